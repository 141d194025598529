// Package meter measures the prompts of a session's agents and compares them with the limits of
// their model. After each append it answers "is a compaction due?" in constant time, however long
// the session is.
//
//	service   Config   the numbers that limits follow from
//	session   Session  what is known of its prompts, for all handles: limits, providers' counts, floors
//	handle    Meter    the size of the prompt that an agent in a branch would send now
//	          Turns    whether enough turns have begun for the invocation trigger
//
// The size of a prompt is what the provider last counted, plus estimates for what came after. Three
// events of an agent show the rule; counts and estimates are in tokens:
//
//	event    estimate   counted   the next prompt is taken for
//	answer   100        -         100: nothing is known but the estimate
//	answer   200        5,150     5,350: counted for the prompt behind it, and its own 200
//	result   300        -         5,650
//
// A compaction changes the view, so counts from before it are no longer those of the prompt. They
// are fitted to a line, overhead + ratio × estimate (package promptsize), which then corrects the
// estimate until the provider reports again. A Session keeps the lines by branch and agent, because
// each agent has instructions, tools and perhaps a model of its own.
//
// All methods are safe for concurrent use.
package meter
