package contexttool

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"

	"github.com/adk-go-ext/longsession/compaction"
	"github.com/adk-go-ext/longsession/internal/adk"
	"github.com/adk-go-ext/longsession/internal/configerr"
)

// markDescription is what the model reads about mark_task_done. Models that are told less call it in
// every turn, and report in it instead of answering.
const markDescription = "Reports that the user's current request is finished, so that its history can be replaced by a short report. " +
	"Call it once, only when the request is finished and the topic will change; not for steps of a task, and not while the user may still ask about details. " +
	"It does not answer the user: always give your answer as well, in your own words. Nothing is deleted."

// task is the input of mark_task_done.
type task struct {
	Detail string `json:"detail" jsonschema:"What was finished, in one sentence, with the names that matter."`
}

// newMarkTaskDone returns the tool mark_task_done. It only answers: the stored call is what asks for the
// checkpoint, and the service writes it when the turn has ended. svc must have been made with
// Config.CheckpointTool [MarkTaskDoneName].
//
// A second call in the same turn changes nothing but the note, and is answered with no_op. So is a call
// in a session that svc does not have, such as that of an agent that runs as a tool. If the
// conversation is under the minimum, the answer says that no checkpoint will be written.
func newMarkTaskDone(svc *compaction.CompactionSessionService, opts Options) (tool.Tool, error) {
	if err := check(svc, opts); err != nil {
		return nil, err
	}
	if name := svc.Settings().CheckpointTool; name != MarkTaskDoneName {
		return nil, fmt.Errorf("contexttool: %w", &configerr.Error{Field: "compaction.Config.CheckpointTool", Value: name,
			Reason: fmt.Sprintf("nothing would answer the calls of %s: make the service with that name (Config.Compaction does)", MarkTaskDoneName)})
	}
	return functiontool.New(functiontool.Config{Name: MarkTaskDoneName, Description: markDescription},
		func(ctx agent.ToolContext, in task) (map[string]any, error) { return mark(ctx, svc, in), nil })
}

func mark(ctx agent.ToolContext, svc *compaction.CompactionSessionService, in task) map[string]any {
	if strings.TrimSpace(in.Detail) == "" {
		return map[string]any{"error": "detail is empty: say in one sentence what was finished"}
	}
	bound, cancel := context.WithTimeout(ctx, svc.Settings().Timeout)
	defer cancel()
	done, err := svc.TaskDone(bound, refOf(ctx), ctx.InvocationID(), ctx.FunctionCallID())
	least := svc.Settings().CheckpointTokens
	switch {
	case adk.IsNotFound(err):
		return noOp("Nothing to do: this conversation is not kept, so it needs no checkpoint. Go on with your answer.")
	case err != nil || !done.Known:
		// The call is stored, or will be: the service finds it there.
		return map[string]any{"result": "Noted. Go on with your answer."}
	case done.Repeats:
		return noOp("Already noted in this turn: one checkpoint will be written, and it has this detail too. Do not call this tool again; answer the user.")
	case done.Now >= least && done.Now > 0:
		return map[string]any{"result": "Noted. A checkpoint will be written when this turn has ended. Now answer the user."}
	case done.Later >= least:
		return map[string]any{"result": "Noted. A checkpoint will be written once the next turn has ended. Now answer the user."}
	default:
		return map[string]any{"result": fmt.Sprintf("Noted. No checkpoint will be written: the conversation since the last one has only about %s tokens, and a checkpoint needs %s. Now answer the user.", grouped(done.Later), grouped(least))}
	}
}

// check refuses a service or options that a tool cannot work with.
func check(svc *compaction.CompactionSessionService, opts Options) error {
	if svc == nil {
		return errors.New("contexttool: the compaction service is nil")
	}
	if opts.Every < compaction.Off {
		return fmt.Errorf("contexttool: %w", &configerr.Error{Field: "Every", Value: opts.Every, Reason: everyReason})
	}
	return nil
}

// refOf names the session that a tool was called in.
func refOf(ctx agent.ToolContext) compaction.SessionRef {
	return compaction.SessionRef{AppName: ctx.AppName(), UserID: ctx.UserID(), SessionID: ctx.SessionID()}
}

// noOp answers a call that changed nothing.
func noOp(why string) map[string]any { return map[string]any{"result": why, "no_op": true} }
