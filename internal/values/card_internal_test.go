package values

import "testing"

// A number that begins like a card's is one only if its length, its last digit or its groups say so, too.
func TestOrderNumbersAreNoCards(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"36012345678902": false, "38012345678902": false, "39012345678902": false, "360123456789012": false, "3601234567890125": false, "501812345678901": false,
		"3601 234567 8902": true, "36012345678901": true, // grouped, or with the right last digit
		"371449635398432": true, "4111111111111112": true, "4111 1111 1111 1112": true, "8100123456789012": true, // whatever the last digit
		"3714496353984310": false, "41111111111112": false, "1111111111111117": false, "4": false, "": false,
	} {
		if got := isCard(number); got != want {
			t.Errorf("isCard(%q) = %v, want %v", number, got, want)
		}
	}
}
