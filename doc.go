// Package longsession keeps the prompts of ADK agents short over thousands of turns, while storage
// keeps every word. It is the front door: [New] puts every layer of the module over an app's session
// service, in the right order, and returns what the app hands to ADK.
//
// # Layers
//
// The layers make a prompt fit, keep it cheap, and keep the agent within its limits. Compaction (package
// compaction) replaces old turns by summaries. The layer of tool results (package toolresult) shortens long
// results, masks old ones, and lets the model read each of them whole with the tool read_result. The budget
// (package budget) measures every request as it is sent, makes one that is too large fit, and recovers if the
// provider refuses it. The prompt (package prompt) adds sections such as AGENTS.md where they leave the
// cached prefix stable. Tool search (package toolsearch) takes the declarations of many tools out of
// requests, and lets the model find them. With recall (package recall) the model searches what a summary stands
// for. The guard (package guard) counts what each session spends, stops it
// at its limits, and notices agents that repeat themselves.
//
// They sit at several places. For one model call:
//
//	request = Model( behind( app( before( view( cut( stored history ))))))
//	Model   = guard( translate( budget( defer( tools( sections( request ))))))
//	before  = guard, errors, note, sections
//	behind  = sections, tools, defer, measure
//
//	cut       shortens a result once, when the view first shows it. Storage keeps it whole, so there is
//	          nothing to clean up, and taking this module away changes nothing.
//	view      hides what a summary stands for. It works on cut results, so that a result of 200 KB that
//	          the model sees as 1 KB counts as 1 KB, and the summarizer reads what the model read.
//	before    plugins that touch events come before the app's own: ADK calls no plugin behind one that
//	          answers with an event. They write into the event they are given and never answer. The
//	          guard's is the first of all: it answers only where it refuses a run or a tool, and then
//	          no other plugin may act on it. The sections of the instruction come here too, so that the
//	          app's plugins see them.
//	errors    makes the error of a tool that does not exist short, and the same each time.
//	note      writes how full the window is into the newest result, behind what the others made of it.
//	app       the app's own plugins, in their order. They see the conversation that the model will see.
//	behind    plugins that touch requests come last. The one that adds sections to a user's message comes
//	          here because it must answer with the message, which hides it from those behind.
//	tools     declares read_result and the tools of the layers, in front of those of the search, whether a
//	          plugin or the model's wrapper declares those. Each is declared where it has something to do.
//	          Those of recall come with the first summary, and not beside a tool of the app's of the same
//	          name. Around the model, it declares them for agents without plugins.
//	measure   has compaction measure what the app's plugins and ours left.
//	Model     wraps the agent's model in the layers that must see every call and every error of the
//	          provider. An agent's own callbacks run after all plugins, and an agent that runs as a tool
//	          has no plugins at all, so these layers do again what their plugins have done, or find that
//	          there is nothing left to do.
//	sections  adds the sections where no plugin did, and tells the layers inside where each begins.
//	defer     takes declarations away. It comes before the budget, so that sizes are those of what is
//	          sent, and outside of it, so that a request which the budget builds again is deferred, too.
//	budget    masks, measures, makes the request fit, and tries once more after an overflow. It sees the
//	          real names of all tools, by which results are masked.
//	translate writes calls of deferred tools as calls of tool_call, and turns the model's calls of tool_call
//	          into calls of the tools. Nothing else in the app needs to know that there is a tool_call.
//	guard     counts a request and refuses it at a bound. Each second request that the layers in front of
//	          it send is counted like the first.
//
// Masking comes after the view because it depends on the whole request of one agent. A later stage never
// undoes an earlier one: a mask keeps the reference of the cut, and a rebuilt request goes through all
// of it again.
//
// An app needs two lines, stack.Model(llm) and stack.PluginConfig(). Either alone is useful. Without Model,
// nothing is masked and no request is made to fit. Without PluginConfig, the model is not told how full
// its window is, a request that is too large is not rebuilt but masked, and no section comes at the end
// of a request.
//
// In live runs ADK calls neither the model's wrapper nor any callback before the model. There, only the
// cut, the view and the summaries exist: give the agent the tools of [Stack.Tools], so that it can read
// results whole, and those of [Stack.Recall], so that it can search.
//
// # A single layer
//
// Each layer also works alone. Package compaction needs one changed line in an existing app; it has an
// example. Packages toolresult, budget, prompt and toolsearch have plugins and wrappers for apps that do
// not compact.
package longsession
