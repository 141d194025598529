// Package tokens answers three questions without calling a model: roughly how
// many tokens a text, part, content or event has ([Estimate], [OfPart],
// [OfContent], [OfEvent]), how many a call used ([Usage]), and what a model's
// window, price and tier are ([Lookup], [Registry]).
//
// # Units
//
// Every count is in tokens, every price in USD per million tokens. The
// estimates are pure functions: no clock, no network, no vocabulary to load.
// The same value gives the same count on every run, whatever the order of a
// map.
//
// # How the estimate works, and how good it is
//
// [Estimate] sums one weight per class of rune (a word, a digit, a run of
// punctuation, ...). The weights were fitted to counts of the Gemma 3
// tokenizer, whose vocabulary is the closest public relative of Gemini's. Mean
// absolute error against it, per message of real conversations (chats, customer
// service with tools, coding agents; the half that no weight was fitted to),
// and per file of public source packages, which played no part in any choice:
//
//	                  messages   files
//	English prose       3.6%    4.5% (Markdown)
//	JSON, indented      2.0%    5.5%
//	JSON, compact       3.4%    7.3%
//	source code         5.7%    5.9%
//	terminal output     6.4%
//	Chinese             5.6%
//	other .txt files             11.6% (test data, word lists)
//
// Dividing bytes by four, the usual rule, reads JSON about 40% too low. A
// message of a few words can be off by more than these figures; over a session
// the errors cancel. Against o200k (GPT-4o, GPT-5) the totals agree within
// 20%; there, the estimate is high for JSON full of digits and low for Chinese.
// It is known to be low for base64, hashes, accented Polish and the like. If the
// provider reports the size of a prompt, prefer that: see [UsageOf].
//
// # The model table
//
// The built-in table is a snapshot. Windows and prices change, so a program
// that depends on them passes its own entries to [NewRegistry]; they win over
// the built-in ones. [Registry.Lookup] returns windows, output limits and prices,
// and [Registry.Window] whether a window is known or assumed.
package tokens
