package terms

// stopWords are English words that say nothing about what a text is about. Ends that an apostrophe cuts off,
// as in don't and we'll, are among them. Words that are short names of something, such as it, may, us and who,
// are left out only where texts without them are found as well.
var stopWords = set("a an and are as at be been being but by can could d did do does doing don for from had has have having he her hers him " +
	"his how i if in into is isn it its itself just let ll m me my of on or our ours re s she should so some such t than that the their " +
	"theirs them then there these they this those to too us ve very was we were what when where which while who whom whose why will with " +
	"would you your yours")
