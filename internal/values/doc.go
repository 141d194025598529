// Package values keeps exact values, such as order numbers and dates, that a summary would lose.
package values
