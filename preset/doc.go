// Package preset turns what an operator sets, by flags, environment variables and a file, into the settings
// of a session, and reports the origin of each value. It is pure: no file, no environment, no clock.
//
// # Precedence
//
// The nearest source that sets a value wins:
//
//	flag > environment > file > app > task class > preset > default
//
// "app" is what the program itself sets. Within one source the special beats the general:
// compaction.threshold_by_tier.small > compaction.threshold > compaction.thresholds. Unset is a nil pointer,
// never zero: a threshold of 0 is "off".
//
// A value that is set takes effect, or [Resolve] refuses it by name. The settings of a preset or a task
// class may give way; [Settings.Notes] then says so.
//
// # Presets
//
// A [Task] class chooses a tier of models, a threshold and an [Ask] mode. It changes neither the agentic
// tools nor their model, and entries of threshold_by_tier win over it.
//
// [LongRun] is the set that is recommended for long runs: 25 tool iterations a turn, checkpoints and
// compactions by the model, compactions when they pay, agentic tools with a small model, and a ceiling of $0.50 a
// turn. Unattended, the ceilings are $1.00 a turn and $20.00 a session, and the watchdog stops loops. Without LongRun,
// an unattended run needs a session ceiling or the word no_ceiling.
//
// Thresholds are shares of the effective window. Pairs of them have names: "frontier", "mid", "small", "standard" and
// "late".
package preset
