package values

import (
	"strings"
	"unicode/utf8"
)

// In Chinese and Japanese a value is found by the characters next to it: a numeral by its unit, a thing by the
// verb before it.

const (
	hanNumerals = "零〇一二三四五六七八九十百千万亿两半几数第"
	hanUnits    = "年月日号天周岁点分秒个只本首部次元块角斤公里米克升吨位名人张条件套台家间杯瓶碗袋盒种遍页章节课集场度层楼路站倍折小时刻钟星期円時歳回枚匹冊階番"
)

// hanVerbs come before a thing. The longest is first.
var hanVerbs = []string{"的名字是", "名字是", "最喜欢的是", "包括", "比如", "例如", "尤其是", "最喜欢", "名叫", "叫做", "叫作", "称为", "推荐了", "推荐", "喜欢上", "喜欢", "爱上了", "讨厌", "去过", "去了", "去的是", "来自", "住在", "看到了", "看到", "遇到了", "看了", "看过", "读了", "读过", "买了", "学了", "学习了", "学会了",
	"参加了", "听了", "做了", "吃了", "尝试了", "打算去", "计划去", "想去", "想学", "正在学", "专业是", "生日是", "叫", "是在", "位于", "研究"}

// hanEmpty are things that say nothing.
var hanEmpty = set("什么 哪里 这个 那个 这些 那些 这样 那样 一下 一些 很多 他 她 它 你 我 我们 你们 他们 自己 的 了 吗 呢 吧 啊 一个 什么样 哪些 哪个 怎么 时候 今天 那里 这里 非常 可以 一起 别人")

// han adds the values of a run of Chinese or Japanese characters. A number in digits may be before it.
func (f *finder) han(t []token, i int) {
	run := t[i].text
	for at := 0; at < len(run); {
		r, size := utf8.DecodeRuneInString(run[at:])
		if strings.ContainsRune(hanNumerals, r) {
			end := f.hanNumber(t, i, at)
			if end > at {
				at = end
				continue
			}
		}
		at += size
	}
	if i > 0 && t[i-1].class == classNumber && t[i-1].end == t[i].begin {
		// 5月6号: the digits before the run, and those behind it, belong to it
		f.hanDigits(t, i)
	}
	f.hanThings(t, i)
}

// hanNumber adds the numeral at at with its unit, and returns where it ends.
func (f *finder) hanNumber(t []token, i, at int) int {
	run := t[i].text
	end, numerals := at, 0
	for end < len(run) {
		r, size := utf8.DecodeRuneInString(run[end:])
		if !strings.ContainsRune(hanNumerals, r) {
			break
		}
		end += size
		numerals++
	}
	from := end
	for n := 0; end < len(run) && n < 2; n++ {
		r, size := utf8.DecodeRuneInString(run[end:])
		if !strings.ContainsRune(hanUnits, r) {
			break
		}
		end += size
	}
	if strings.HasPrefix(run[from:], "个") { // 一个小时, 三个月
		for _, unit := range []string{"小时", "月", "星期", "礼拜", "钟头"} {
			if rest := run[from+len("个"):]; strings.HasPrefix(rest, unit) {
				end = from + len("个") + len(unit)
				f.add(kindDate, hanContext(run[:at]), run[at:end])
				return end
			}
		}
	}
	if end == from {
		return from // nothing that begins with a later numeral has a unit either
	}
	if strings.HasPrefix(run[at:], "第一次") || numerals == 1 && (strings.HasPrefix(run[at:], "一") || strings.HasPrefix(run[at:], "几")) && !strings.Contains(run[from:end], "月") {
		return 0 // 一个 is "a", 几个 is "some"
	}
	kind := kindNumber
	if strings.ContainsAny(run[from:end], "年月日号天周点时星期") {
		kind = kindDate
	}
	// the noun behind a unit: 三本小说
	noun := end
	for n := 0; noun < len(run) && n < 2 && kind == kindNumber; n++ {
		r, size := utf8.DecodeRuneInString(run[noun:])
		if strings.ContainsRune("的了吗呢吧啊是在和就也都我你他", r) {
			break
		}
		noun += size
	}
	f.add(kind, hanContext(run[:at]), run[at:noun])
	return noun
}

// hanDigits adds a number in digits with the unit in the run behind it: 10分钟, 5月6号.
func (f *finder) hanDigits(t []token, i int) {
	run := t[i].text
	if i+1 < len(t) && t[i+1].class == classNumber && t[i].end == t[i+1].begin && utf8.RuneCountInString(run) <= 2 {
		return // the run behind the next number adds it
	}
	from := i - 1
	for from-2 >= 0 && t[from-2].class == classNumber && t[from-1].class == classHan && t[from-2].end == t[from-1].begin && t[from-1].end == t[from].begin && utf8.RuneCountInString(t[from-1].text) <= 2 {
		from -= 2
	}
	end := 0
	for n := 0; end < len(run) && n < 4; n++ {
		r, size := utf8.DecodeRuneInString(run[end:])
		if !strings.ContainsRune(hanUnits, r) && n >= 2 {
			break
		}
		if strings.ContainsRune("的了吗呢吧啊，", r) {
			break
		}
		end += size
	}
	var text strings.Builder
	for _, one := range t[from:i] {
		text.WriteString(one.text)
	}
	kind := kindNumber
	if strings.ContainsAny(run[:end], "年月日号天周点时星期") {
		kind = kindDate
	}
	before := ""
	if from > 0 && t[from-1].class == classHan {
		before = hanContext(t[from-1].text)
	}
	text.WriteString(run[:end])
	f.add(kind, before, text.String())
}

// hanContext returns the last characters of a run.
func hanContext(run string) string {
	n := 0
	at := len(run)
	for at > 0 && n < 4 {
		r, size := utf8.DecodeLastRuneInString(run[:at])
		if strings.ContainsRune("的了吗呢吧啊", r) {
			break
		}
		at -= size
		n++
	}
	return run[at:]
}

// hanThings adds what follows a verb, with the list that it begins: 去了厦门; 喜欢徒步、长跑和攀岩.
func (f *finder) hanThings(t []token, i int) {
	run := t[i].text
	for at := 0; at < len(run); {
		verb := ""
		for _, v := range hanVerbs {
			if strings.HasPrefix(run[at:], v) {
				verb = v
				break
			}
		}
		if verb == "" {
			_, size := utf8.DecodeRuneInString(run[at:])
			at += size
			continue
		}
		from := at + len(verb)
		end, n := from, 0
		for end < len(run) && n < 12 {
			r, size := utf8.DecodeRuneInString(run[end:])
			if strings.ContainsRune("吗呢吧啊了", r) {
				break
			}
			end += size
			n++
		}
		core := strings.TrimSuffix(run[from:end], "的")
		empty := hanEmpty[core]
		for _, word := range []string{"什么", "哪", "你", "给", "这", "那", "和", "的"} {
			empty = empty || strings.HasPrefix(core, word)
		}
		for _, word := range []string{"我", "他们", "如何"} { // a clause, and no thing
			empty = empty || strings.Contains(core, word)
		}
		if n >= 2 && !empty {
			if end == len(run) {
				core += hanList(t, i)
			}
			f.add(kindThing, "", verb+core)
		}
		at = max(end, from)
	}
}

// hanList returns the items of a list behind the run at i: 、长跑、攀岩.
func hanList(t []token, i int) string {
	var b strings.Builder
	for n := 0; n < 5 && i+2 < len(t) && t[i+1].text == "、" && t[i+2].class == classHan; n++ {
		item := t[i+2].text
		if utf8.RuneCountInString(item) > 10 {
			break
		}
		b.WriteString("、" + item)
		i += 2
	}
	return b.String()
}
