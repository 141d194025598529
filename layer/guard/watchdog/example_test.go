package watchdog_test

import (
	"fmt"

	"github.com/adk-go-ext/longsession/layer/guard/watchdog"
)

// An agent reads the same file again and again.
func Example() {
	w, err := watchdog.New(watchdog.Config{Mode: watchdog.Stop})
	if err != nil {
		fmt.Println(err)
		return
	}
	args := map[string]any{"path": "main.go"}
	for i := 1; i <= 8; i++ {
		call := w.Call("", "read_file", args, map[string]any{"result": "package main"})
		verdict := w.Observe(watchdog.Step{Branch: "root", Calls: []watchdog.Call{call}})
		for _, alert := range verdict.Alerts {
			fmt.Println(i, alert.Signal, alert.Severity)
			fmt.Println(verdict.Note)
		}
		if verdict.Stop != nil {
			fmt.Println(i, "stop:", verdict.Stop.Text)
		}
	}
	// Output:
	// 5 repeated-tool-call critical
	// [You called read_file 5 times in a row with the same arguments and the same result. Calling it again will not change that. Use what you have, try something else, or say what you cannot do and end your answer.]
	// 8 stop: called read_file 8 times in a row with the same arguments and the same result.
}
