// Package guard keeps agents within limits: money, model calls, tokens and time, for each turn, session and
// subtask. What agents use is counted in whole nano-dollars, once per request that is sent, and stored with the
// session's events, so a session that is stopped stays stopped in the next process.
//
//	g, err := guard.New(guard.Config{
//		Turn:    guard.Limits{USD: 50 * tokens.Cent},
//		Session: guard.Limits{USD: 20 * tokens.Dollar, ModelCalls: 5_000},
//	})
//	agent: llmagent.Config{Model: g.Model(llm)}
//	runner: PluginConfig: runner.PluginConfig{Plugins: []*plugin.Plugin{g.Plugin(), …}} // the first plugin
//	compaction.Config{Observer: g.Compactions(nil)}
//
// longsession.New does the same with its Config.Guard.
//
// # What is counted
//
// [Guard.Model] sees each request that is sent: of an agent, its sub-agents, agents in parallel, agents that run
// as tools, at any depth, and of subtasks. Each is charged to the session of the run that it belongs to.
// [Guard.Compactions] adds the summarizer's calls. [Guard.Usage] shows the totals, by model too; the sum over
// models is the total. A model without prices is reported, and named in each total.
//
// Calls of a model that is not wrapped are counted by the plugin, but for those of agents that run as tools, which
// ADK shows to no plugin. Live runs and remote agents are not counted.
//
// # How a turn is stopped
//
// A bound is reached when the amount used is equal to it or above. After the call that reaches it:
//
//   - no further model call starts; one that is refused ends the turn with a [*StopError], or with an event, as
//     [Config.OnStop] says. Parallel calls near a bound wait for each other, so that none starts above it;
//   - the tools that this call has asked for do not run. Each gets the result {"error":"not run: the cost
//     ceiling is reached"}, so the stored conversation stays complete;
//   - if a session's bound is reached, or a turn's cost ceiling, or the last call under it was made, the next run is refused before its message is
//     stored, without a model call. [Guard.Reset] lets it go on. Other limits of a turn end with it.
//
// Before that, the model is told when [Config.NoteAt] of a limit is used. The last call that fits goes without
// tools, so that the turn ends with an answer ([LandingSoft]): the last one of ModelCalls, or one when less is
// left of USD or Tokens than 1.5 times the last call, or less than 20 s of Wall (a third of a limit that is
// shorter than a minute).
//
// # What it cannot do
//
// A call in flight is not stopped by a limit of money or tokens, so the last one may exceed it. A tool that ignores
// its context cannot be stopped: the time limit is checked before the next tool and model call. If the process is
// killed, calls in flight, and charges after the session's last event, are not stored.
package guard
