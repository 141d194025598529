package said

import (
	"slices"
	"strings"
	"unicode"
)

// cues are words of instructions, refusals and corrections, as they are in a text in lower case with one space between
// words.
var cues = strings.Split(`must|never|always|don't|do not|dont|instead|no longer|not anymore|only use|make sure|ensure |remember|avoid|prefer|from now on|should not|shouldn't|rather than|stop |no need|without |at least|at most|i want|i need|i'd like|actually|correction|i meant|wrong|muss |müssen|darf |nie |niemals|immer|nicht |kein|stattdessen|sondern|lieber|bitte|vermeide|ab jetzt|falsch|jamais|toujours|ne pas|plutôt|au lieu|il faut|doit |évite|à partir de maintenant|s'il vous plaît|nunca|siempre|en lugar|en vez|debe |evita|a partir de ahora|por favor|sempre|invece|devi |deve |d'ora in poi|per favore|em vez|não |никогда|всегда|вместо|нельзя|нужно|не надо|不要|必须|總是|总是|永远|一定|而不是|别|不用|改成|改为|请|ないで|必ず|常に|代わりに|禁止|してください|하지 마|항상|반드시|대신|마세요`, "|")

// imperatives begin a sentence that instructs.
var imperatives = map[string]bool{}

func init() {
	for word := range strings.FieldsSeq(`add answer ask avoid book build buy call cancel change check choose clean close commit compare continue convert copy create cut delete deploy do draft drop edit ensure explain export fetch fill find finish fix follow format generate get give go ignore implement import include install keep let list look make mark merge move name note open order pay pick plan please post prefer print push put read refund remember remove rename replace reply report reschedule reserve return revert rewrite run save search send set ship show skip sort speak split start stop store summarize switch take tell test translate try turn update upgrade use verify wait walk write no don't never always only`) {
		imperatives[word] = true
	}
}

// Instructs reports whether a text instructs, refuses or corrects, as far as its words tell.
func Instructs(text string) bool {
	lower := strings.ReplaceAll(strings.ToLower(text), "’", "'")
	for line := range strings.FieldsFuncSeq(lower, func(r rune) bool { return strings.ContainsRune(".!?;:\n", r) }) {
		if word, _, _ := strings.Cut(strings.TrimLeft(line, " \t-*#>"), " "); imperatives[strings.Trim(word, `,"'`)] {
			return true
		}
	}
	folded := strings.Join(strings.Fields(lower), " ") + " "
	return slices.ContainsFunc(cues, func(cue string) bool { return hasCue(folded, cue) })
}

// hasCue reports whether a text has a cue, if in Latin letters as words of its own.
func hasCue(text, cue string) bool {
	for {
		at := strings.Index(text, cue)
		if at < 0 {
			return false
		}
		end := at + len(cue)
		begins := at == 0 || !isLetter(text[at-1]) || !isLetter(cue[0])
		ends := end == len(text) || !isLetter(text[end]) || !isLetter(cue[len(cue)-1])
		if begins && ends {
			return true
		}
		text = text[end:]
	}
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }

// trivial are words that say nothing once they have been answered.
var trivial = map[string]bool{}

func init() {
	for word := range strings.FieldsSeq(`ok okay k yes yeah yep yup no nope sure thanks thank you thx ty please great good nice cool perfect fine right alright got it go on ahead continue next hi hello hey bye goodbye done ja nein danke gut oui non merci sí si gracias да нет спасибо 好 好的 谢谢 是 是的 嗯 はい ありがとう 네 감사합니다 so much very that's that all for now`) {
		trivial[word] = true
	}
}

// isCode reports whether a text is one word with digits. Such a word answers a question, which is not kept with it, and may
// be a secret.
func isCode(text string) bool {
	return !strings.ContainsAny(text, " \n\t") && strings.ContainsAny(text, "0123456789") && !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) })
}

// isTrivial reports whether a text is "ok", "yes, thanks" and the like.
func isTrivial(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "’", "'")), func(r rune) bool { return strings.ContainsRune(" \n\t.,;:!?。，！？、…👍🙏()", r) })
	if len(words) > 6 {
		return false
	}
	for _, w := range words {
		if !trivial[w] {
			return false
		}
	}
	return true
}
