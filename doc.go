// Package longsession keeps the prompts of ADK agents short over thousands of turns, while storage
// keeps every word. It is the front door: [New] puts every layer of the module over an app's session
// service, in the right order, and returns what the app hands to ADK.
//
// # Layers
//
// A layer sits at one of four places. Between the app and its storage is Sessions, the session
// service. Behind the app's own plugins are the plugins of [Stack.PluginConfig]. Around the app's
// model is [Stack.Model]. Among the agent's tools are [Stack.Tools]. For one model call:
//
//	request = Model( plugins of longsession( plugins of the app( view( stored history ))))
//
// The view comes first, so that the app's plugins see the conversation that the model will see. The
// plugins of this module come after the app's, because they must see the request as the app's
// plugins leave it: a layer that measured earlier would count text that is never sent. The model
// wrapper comes last, because only there do errors of the provider appear, and calls that ADK makes
// without plugins, such as those of an agent that runs as a tool.
//
// This version has one layer, compaction. It uses the first place, and the second to learn how large
// the requests really are.
//
// # A single layer
//
// Each layer also works alone. Package compaction needs one changed line in an existing app; it has an
// example.
package longsession
