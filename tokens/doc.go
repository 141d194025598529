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
// punctuation, ...). The weights were fitted to counts of two tokenizers at
// once: o200k, that of GPT-4o and GPT-5, and Gemma 3, whose vocabulary is the
// closest public relative of Gemini's. Error of the total of each kind, in real
// conversations (chats, customer service with tools, coding agents) and in files
// of public packages:
//
//	                               o200k   Gemma 3
//	English                        +7.5%    +0.6%
//	Chinese                        -7.4%    +8.1%
//	JSON, results of tools         +9.3%    -7.4%
//	JSON, arguments of tools       +5.7%    -9.1%
//	terminal output                +7.6%    -7.8%
//	source code read by an agent   +4.9%    -8.8%
//	source files                   +8.0%    -8.6%
//	Markdown files                 +7.8%    -2.6%
//	log files                     +10.5%   -10.5%
//
// One estimate cannot do better for text full of digits: Gemma 3 takes one digit
// at a time and o200k three, so they differ by a quarter on logs. Weights fitted
// to half of the texts gave the other half the same errors within two percent,
// logs within six. Dividing bytes by four, the usual rule, reads JSON about 40%
// too low. A message of a few words can be off by more than these figures; over
// a session the errors cancel. Against o200k, Chinese that is not everyday talk
// and Japanese are up to a fifth too low. Base64, hashes, accented Polish and
// the like are known to be low, too. If the provider reports the size of a
// prompt, prefer that: see [UsageOf].
//
// # The model table
//
// The built-in table is a snapshot. Windows and prices change, so a program
// that depends on them passes its own entries to [NewRegistry]; they win over
// the built-in ones. [Registry.Lookup] returns windows, output limits and prices,
// and [Registry.Window] whether a window is known or assumed.
package tokens
