package wordsearch

import (
	"regexp"
	"strconv"
	"strings"
)

var (
	monthNames = regexp.MustCompile(`(?i)\b(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?`)
	weekdays   = regexp.MustCompile(`(?i)\b(sun|mon|tues|wednes|thurs|fri|satur)day\b|(?:星期|周|礼拜|曜)?([日天一二三四五六])曜日|(?:星期|礼拜)([日天一二三四五六])`)
	dayBefore  = regexp.MustCompile(`(?i)\b(\d{1,2})(?:st|nd|rd|th)?(?:\s+of)?\s*$`)
	dayBehind  = regexp.MustCompile(`(?i)^\s*(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\b`)
	isoDate    = regexp.MustCompile(`\b(\d{4})-(\d{1,2})-(\d{1,2})\b`)
	eastern    = regexp.MustCompile(`(?:(\d{1,2})\s*月\s*)?(\d{1,2})\s*[日号號]|(\d{1,2})\s*月`)
	years      = regexp.MustCompile(`\b((?:19|20)\d\d)\b`)
)

// nearDay is how many bytes from the name of a month its day stands at most. Whole texts on both sides of each name
// would take time that grows with the square of the question.
const nearDay = 16

var monthNumbers = map[string]int{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}

var weekdayNumbers = map[string]int{"sun": 0, "mon": 1, "tues": 2, "wednes": 3, "thurs": 4, "fri": 5, "satur": 6,
	"日": 0, "天": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6}

// askedDates returns the terms of the dates that a question names, as [dateTerms] has them: "May 6", "the 6th of
// May", "2023-05-06", "5月6号", "on Friday". A number alone is no date.
func askedDates(text string) []string {
	var out []string
	add := func(kind func(int) string, digits string, least, most int) {
		if n, err := strconv.Atoi(digits); err == nil && n >= least && n <= most {
			out = appendNew(out, kind(n))
		}
	}
	for _, m := range isoDate.FindAllStringSubmatch(text, -1) {
		add(month, m[2], 1, 12)
		add(day, m[3], 1, 31)
	}
	for _, m := range eastern.FindAllStringSubmatch(text, -1) {
		add(month, m[1], 1, 12)
		add(day, m[2], 1, 31)
		add(month, m[3], 1, 12)
	}
	for _, at := range monthNames.FindAllStringIndex(text, -1) {
		name := strings.ToLower(text[at[0]:at[1]])
		n := monthNumbers[name[:3]]
		before, behind := dayBefore.FindStringSubmatch(text[max(0, at[0]-nearDay):at[0]]), dayBehind.FindStringSubmatch(text[at[1]:min(len(text), at[1]+nearDay)])
		if name == "may" && before == nil && behind == nil && text[at[0]] != 'M' {
			continue // the verb
		}
		out = appendNew(out, month(n))
		if behind != nil {
			add(day, behind[1], 1, 31)
		} else if before != nil {
			add(day, before[1], 1, 31)
		}
	}
	for _, m := range weekdays.FindAllStringSubmatch(text, -1) {
		out = appendNew(out, weekday(weekdayNumbers[strings.ToLower(m[1]+m[2]+m[3])]))
	}
	for _, m := range years.FindAllStringSubmatch(text, -1) {
		add(year, m[1], 1900, 2099)
	}
	return out
}
