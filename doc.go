// Package longsession keeps the prompts of ADK agents short over thousands of turns, while storage
// keeps every word. It is the front door: [New] puts every layer of the module over an app's session
// service, in the right order, and returns what the app hands to ADK.
//
// # Layers
//
// Three layers make a prompt fit. Compaction (package compaction) replaces old turns by summaries.
// The layer of tool results (package toolresult) shortens long results, masks old ones, and lets the
// model read each of them whole with the tool read_result. The budget (package budget) measures every
// request as it is sent, makes one that is too large fit, and recovers if the provider refuses it.
//
// They sit at four places. For one model call:
//
//	request = Model( behind( app( before( view( cut( stored history ))))))
//
//	cut     shortens a result once, when the view first shows it. Storage keeps it whole, so there is
//	        nothing to clean up, and taking this module away changes nothing.
//	view    hides what a summary stands for. It works on cut results, so that a result of 200 KB that
//	        the model sees as 1 KB counts as 1 KB, and the summarizer reads what the model read.
//	before  plugins that touch events come before the app's own: ADK calls no plugin behind one that
//	        answers with an event. They write into the event they are given and never answer.
//	app     the app's own plugins, in their order. They see the conversation that the model will see.
//	behind  the plugin that touches requests comes last: it declares read_result and measures what the
//	        app's plugins left.
//	Model   wraps the agent's model: masks, measures, makes the request fit, calls the provider, and
//	        tries once more after an overflow. It is outermost because an agent's own callbacks run
//	        after all plugins, because errors of the provider appear only here, and because an agent
//	        that runs as a tool has no plugins at all.
//
// Masking comes after the view because it depends on the whole request of one agent. A later stage never
// undoes an earlier one: a mask keeps the reference of the cut, and a rebuilt request goes through all
// of it again.
//
// An app needs two lines, stack.Model(llm) and stack.PluginConfig(). Either alone is useful. Without Model,
// nothing is masked and no request is made to fit. Without PluginConfig, the model is not told how full
// its window is, and a request that is too large is not rebuilt but masked.
//
// In live runs ADK calls neither the model's wrapper nor any callback before the model. There, only the
// cut, the view and the summaries exist: give the agent the tools of [Stack.Tools], so that it can read
// results whole.
//
// # A single layer
//
// Each layer also works alone. Package compaction needs one changed line in an existing app; it has an
// example. Packages toolresult and budget have plugins and wrappers for apps that do not compact.
package longsession
