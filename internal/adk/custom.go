package adk

import (
	"reflect"

	"google.golang.org/adk/agent"
)

// customType is the type of agents with a Run function of the app's own: see
// TestPinACustomAgentIsOfAnotherTypeThanOneWithAModel.
var customType = func() reflect.Type {
	custom, err := agent.New(agent.Config{Name: "custom"})
	if err != nil {
		panic("adk: agent.New refuses a name: " + err.Error()) // ADK never does
	}
	return reflect.TypeOf(custom)
}()

// IsCustom reports whether the app itself has written what an agent does. ADK builds no requests for such
// an agent, and runs no tools for it.
func IsCustom(a agent.Agent) bool { return reflect.TypeOf(a) == customType }
