// Package values keeps exact values, such as order numbers and dates, that a summary would lose. It finds them in
// events without a model ([Of]), unites those of several records ([Merge]), and renders the best ([Block]).
//
// A value's text is the value with at most two words before it that say what it is: "passport number X4829917".
// Names, titles, paths and identifiers need no such words. Its kind is one of the constants of this package, with
// a mark behind a plus for what a correction must know ("date+is") and for values of tools ("path+tool").
//
// All functions are pure, take any input, and take time in proportion to it.
package values
