package preset

// What the tests outside of the package look at.
const (
	NoteRetired   = noteRetired
	NoteRetiring  = noteRetiring
	NoteSmallTier = noteSmallTier
	NoteUnknown   = noteUnknown
	NoteUnpriced  = noteUnpriced
)

type Thresholds = thresholds

var (
	PairOf       = pairOf
	RetirementOf = retirementOf
)
