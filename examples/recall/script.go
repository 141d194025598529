package main

import "fmt"

// fact is something that the user says once, and asks for at the end.
type fact struct {
	said, heard string // the turn in which it is said
	asked       string
	answer      string // the words that answer the question
}

var facts = []fact{
	{
		"Hello! I am Ines, and I am moving from Utrecht to Bergen. The movers' contract has the number MV-48213.",
		"Hello Ines! I have the contract MV-48213 in front of me.",
		"What is the number of my contract with the movers?", "MV-48213",
	},
	{
		"They load the van on 14 September, early in the morning.",
		"That leaves us a few weeks for everything else.",
		"On which day do they load the van?", "14 September",
	},
	{
		"My new address is Nygårdsgaten 89, on the third floor, and there is no lift.",
		"Third floor without a lift: the movers should know.",
		"What is my new address?", "Nygårdsgaten 89",
	},
	{
		"The landlord is Torvald Eide. His telephone number is 555 0147, but he only answers in the evening.",
		"I will remind you to call him in the evening.",
		"What is the telephone number of my landlord?", "555 0147",
	},
	{
		"The rent is 13,450 crowns a month, heating included.",
		"With heating included that is a fair price.",
		"How much is the rent?", "13,450 crowns",
	},
	{
		"Pixel, my cat, comes along. The chip under the fur has the number 578-094-110.",
		"Pixel needs a rabies certificate with that number.",
		"Which number does the chip of my cat have?", "578-094-110",
	},
	{
		"Please remember that I can't stand penicillin: it nearly killed me as a child.",
		"I will mention it to every doctor we write to.",
		"Which medicine nearly killed me when I was a child?", "penicillin",
	},
	{
		"I would love to have the kitchen walls in sage green, like at my grandmother's.",
		"That goes well with the wooden floor.",
		"In which color did I want the walls of the kitchen?", "sage green",
	},
	{
		"My friend Marit says that the ferry from Hirtshals is calmer than the one from Kristiansand.",
		"Then let us look at the ferry timetable first.",
		"From where does the calmer ferry go, according to Marit?", "Hirtshals",
	},
	{
		"The piano must stand against an inner wall, because the outer ones are damp.",
		"An inner wall it is.",
		"Against which wall must the piano stand?", "inner wall",
	},
}

// What the chat is about in between: boxes, contracts to end, errands and the weather.
var (
	things = []string{
		"winter coats", "cookbooks", "the good plates", "board games", "tools", "camping gear", "bed linen", "photo albums", "paint and brushes",
		"shoes", "cables and chargers", "the sewing machine", "letters and diaries", "pots and pans", "lamps", "towels", "vinyl records",
	}
	rooms     = []string{"the attic", "the bedroom", "the study", "the hall", "the cellar", "the living room", "the balcony room"}
	companies = []string{"the power company", "the water board", "the gym", "the newspaper", "the internet provider", "the library", "the insurance", "the bank", "the choir"}
	errands   = []string{
		"return the borrowed drill to Joost", "buy more tape and felt pens", "take the old sofa to the dump", "have the bicycle repaired",
		"collect the parcel at the corner shop", "ask the neighbors for their spare key", "defrost the freezer", "photograph the scratches in the hallway",
	}
	weather = []string{"grey", "windy", "mild", "stormy", "sunny", "foggy"}
)

// exchange is a turn with the model's answer. The last ones have none: the model must know it.
type exchange struct{ user, model string }

// fewest is the number of turns for all facts and questions, with something in between. most is what there is to say.
var (
	fewest = 4 * len(facts)
	most   = 400
)

// chat is a chat of so many turns: the facts, other talk, and the questions.
func chat(turns int) []exchange {
	var all []exchange
	for i, f := range facts {
		all = append(all, exchange{f.said, f.heard}, talk(i))
	}
	for i := len(facts); len(all) < turns-len(facts); i++ {
		all = append(all, talk(i))
	}
	for _, f := range facts {
		all = append(all, exchange{user: f.asked})
	}
	return all
}

// talk is the n-th exchange about other matters.
func talk(n int) exchange {
	thing, room := things[n*5%len(things)], rooms[n*3%len(rooms)]
	switch n % 4 {
	case 0:
		return exchange{
			fmt.Sprintf("Box %d is packed now. It has %s in it, weighs about %d kilos and goes to %s.", n+1, thing, 6+n*7%19, room),
			fmt.Sprintf("Noted: box %d with %s for %s. Do you want to write the room on two sides?", n+1, thing, room),
		}
	case 1:
		company := companies[n*2%len(companies)]
		return exchange{
			fmt.Sprintf("Today I wrote to %s to end the contract. They ask for customer number %d and want %d weeks of notice.", company, 70_400+n*137, 2+n%5),
			fmt.Sprintf("Then %s should confirm it soon. Shall we write down the date on which you sent the letter?", company),
		}
	case 2:
		return exchange{
			fmt.Sprintf("I still have to %s, and it is so %s outside that I keep putting it off.", errands[n*3%len(errands)], weather[n*5%len(weather)]),
			"A small step is enough for today. What would make it easier to begin?",
		}
	}
	return exchange{
		fmt.Sprintf("The quote for %s came: %d euros for the transport of %s alone. Is that not too much?", room, 40+n*23%310, thing),
		fmt.Sprintf("It is a lot for %s. You could ask a second firm before you say yes.", thing),
	}
}
