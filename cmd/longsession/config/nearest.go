package config

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// didYouMean returns " (did you mean compaction.threshold?)", or "" if no key is near.
func didYouMean(typed string) string {
	best, least := "", 4 // further away it would be a guess
	for _, o := range options {
		distance := levenshtein.ComputeDistance(strings.ToLower(typed), o.Name)
		if last(o.Name) == last(typed) {
			distance = min(distance, 2) // the right key in the wrong table
		}
		if distance < least {
			best, least = o.Name, distance
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// last returns the part of a key behind its table.
func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// tables are the tables of all keys.
func tables() map[string]bool {
	all := map[string]bool{}
	for _, o := range options {
		for i := range o.Name {
			if o.Name[i] == '.' {
				all[o.Name[:i]] = true
			}
		}
	}
	return all
}

// nearTable returns " (did you mean [session.context]?)", or "" if no table is near.
func nearTable(typed string) string {
	best, least := "", 4
	for name := range tables() {
		if d := levenshtein.ComputeDistance(strings.ToLower(typed), name); d < least || d == least && best != "" && name < best {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean [" + best + "]?)"
}
