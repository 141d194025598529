package promptsize

import "slices"

// FirstChanged returns the name of the section at fault if two system instructions differ from a part on. The
// lists have the name of the section of each part. It is the section of that part in the new instruction or, if
// the new one no longer has the old one's, that of the old one. It returns "" if neither list names the part.
//
// For example, the part behind "base" is "skills" where it was "memories". If the new instruction has no
// memories at all, these were taken out; else skills were put in front of them.
func FirstChanged(before, now []string, part int) string {
	switch {
	case part >= len(now) && part >= len(before):
		return ""
	case part >= len(now):
		return before[part]
	case part >= len(before) || slices.Contains(now, before[part]):
		return now[part]
	}
	return before[part]
}
