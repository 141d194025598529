package kept

import (
	"strings"
	"time"
)

// dates are the days of a year that a source names, whatever their year, and whether it names days by "tomorrow".
type dates struct {
	days     [13][32]bool
	minutes  [60]bool // of times of day
	relative bool
}

func (d *dates) add(month, day int) {
	if month >= 1 && month <= 12 && day >= 1 && day <= 31 {
		d.days[month][day] = true
	}
}

// at adds the day of a time, and those around it: an app may show it in any time zone.
func (d *dates) at(t time.Time) {
	if t.IsZero() {
		return
	}
	for _, off := range []int{-1, 0, 1} {
		day := t.UTC().AddDate(0, 0, off)
		d.add(int(day.Month()), day.Day())
	}
}

// reach is how many days a day may be away from one that the source names if the source names others by "tomorrow".
const reach = 14

func (d *dates) has(month, day int) bool {
	if month < 1 || month > 12 || day < 1 || day > 31 || d.days[month][day] {
		return true
	}
	if !d.relative {
		return false
	}
	for off := -reach; off <= reach; off++ {
		at := time.Date(2024, time.Month(month), day, 12, 0, 0, 0, time.UTC).AddDate(0, 0, off)
		if d.days[int(at.Month())][at.Day()] {
			return true
		}
	}
	return false
}

// dateReader finds dates among the atoms of a text.
type dateReader struct {
	text  string
	dates *dates
	last  [2]atom
	n     int
	// seconds means that the atom before is the minutes of a time.
	seconds bool
}

// atom takes the next atom.
func (r *dateReader) atom(a atom) {
	word := withoutOrdinal(r.text[a.begin:a.end])
	number := isDigits(word) && len(word) <= 14
	switch {
	case number && len(word) <= 4 && r.n >= 1:
		r.numeric(a, atoi(word))
	case number && (len(word) == 8 || len(word) == 14): // 20260312
		r.dates.add(atoi(word[4:6]), atoi(word[6:8]))
	case number && (len(word) == 10 || len(word) == 13): // seconds or milliseconds since 1970
		r.dates.at(time.Unix(int64(atoi(word[:9]))*10, 0))
	case !number && len(word) <= 24:
		lower := strings.ToLower(word)
		if month := monthOf(lower); month > 0 && r.n >= 1 && r.near(1, a) {
			r.dates.add(month, r.day(1))
		} else if relativeDays[lower] || word == "天" && strings.Contains("今明昨后", r.word(1)) && r.n >= 1 {
			r.dates.relative = true
		}
		if at := strings.IndexAny(word, "Tt"); at > 0 && at <= 2 && isDigits(word[:at]) && r.n >= 2 { // 2026-03-12T10:00
			r.dates.add(r.day(1), atoi(word[:at]))
		}
	}
	r.last[0], r.last[1] = r.last[1], a
	r.n++
}

// numeric takes an atom of digits.
func (r *dateReader) numeric(a atom, n int) {
	before := r.word(1)
	sign := r.between(1, a)
	if isDigits(before) && len(before) <= 4 && (sign == "-" || sign == "/" || sign == ".") {
		m := atoi(before)
		r.dates.add(m, n)
		if year := r.word(2); sign != "-" || len(year) != 4 || !isDigits(year) { // else the month comes first
			r.dates.add(n, m)
		}
	}
	if sign == ":" && n < 60 && !r.seconds {
		r.dates.minutes[n] = true
	}
	r.seconds = sign == ":" && !r.seconds
	if month := monthOf(strings.ToLower(before)); month > 0 && r.near(1, a) {
		r.dates.add(month, n)
	}
	if before == "月" && r.n >= 2 {
		r.dates.add(r.day(2), n)
	}
}

// word returns the atom k places before.
func (r *dateReader) word(k int) string {
	if r.n < k {
		return ""
	}
	a := r.last[2-k]
	return r.text[a.begin:a.end]
}

// day returns the atom k places before as a number, without the ending of an ordinal; 0 if it is none.
func (r *dateReader) day(k int) int {
	word := withoutOrdinal(r.word(k))
	if !isDigits(word) || len(word) > 2 {
		return 0
	}
	return atoi(word)
}

// withoutOrdinal returns "20" for "20th".
func withoutOrdinal(word string) string {
	if n := len(word) - 2; n > 0 && n <= 2 && isDigits(word[:n]) {
		switch strings.ToLower(word[n:]) {
		case "st", "nd", "rd", "th":
			return word[:n]
		}
	}
	return word
}

// between is what stands between the atom before and this one.
func (r *dateReader) between(k int, a atom) string {
	if r.n < k {
		return ""
	}
	return r.text[r.last[2-k].end:a.begin]
}

func (r *dateReader) near(k int, a atom) bool { return len(r.between(k, a)) <= 2 }

// monthOf returns the number of a month by its name, or 0.
func monthOf(lower string) int { return months[lower] }

var months = map[string]int{}

func init() {
	for _, names := range []string{
		"january february march april may june july august september october november december",
		"jan feb mar apr may jun jul aug sep oct nov dec",
		"januar februar märz april mai juni juli august september oktober november dezember",
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
		"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
	} {
		for i, name := range strings.Fields(names) {
			months[name] = i + 1
		}
	}
	months["sept"] = 9
}

var relativeDays = set("today tomorrow yesterday tonight monday tuesday wednesday thursday friday saturday sunday weekend heute morgen gestern übermorgen montag " +
	"dienstag mittwoch donnerstag freitag samstag sonntag wochenende demain hier lundi mardi mercredi jeudi vendredi samedi dimanche mañana ayer hoy lunes martes miércoles jueves viernes sábado domingo")
