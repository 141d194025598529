// Package kept checks a summary against what it stands for, without a model: which values it has that the source does not
// have, what it turns around, and which share of the source's values is kept.
//
// In doubt, a value is not invented. So a value is compared by its words and by which of them stand next to each other,
// whatever the signs between them are, and a number by what it may be rounded or converted from. What a summary counts
// itself, and the numbers of its lists and sections, are no values.
//
// All functions are pure. Their work grows with the length of the source and of the summary, not with their product.
package kept
