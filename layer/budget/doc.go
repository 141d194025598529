// Package budget measures each request as it is sent, and keeps it within the model's context window.
//
// [Meter.Model] wraps the agent's model. The wrapper sees the final request of every call, with all
// that callbacks, plugins and toolsets have added to it, also in runs that no plugin sees. It measures
// the four parts of the request ([Budget]), corrects its estimates by the provider's own counts, and
// compares the result with the [Thresholds].
//
// All thresholds are shares of the effective window: the model's context window less what is reserved
// for the reply. With a window of 128,000 and a reserve of 8,000, a Block of 0.98 is at 117,600 tokens.
//
// A request that is too large is built again from a compacted session, for which callbacks before the model
// run a second time. Agents whose instruction provider is that of [Meter.Ahead] compact the session before the
// request is built instead.
//
// [Meter.Plugin] writes a short note about the use of the window into a tool result, [Meter.Tracker]
// counts the tokens of a session for people to read, and Config.Observer hears of every request, every
// prompt that does not extend the one before it, and every change of state.
package budget
