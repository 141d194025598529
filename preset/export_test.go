package preset

// What the tests outside of the package look at.
const NoteRetired = noteRetired
const NoteRetiring = noteRetiring
const NoteSmallTier = noteSmallTier
const NoteUnknown = noteUnknown
const NoteUnpriced = noteUnpriced

type Thresholds = thresholds

var PairOf = pairOf
var RetirementOf = retirementOf
