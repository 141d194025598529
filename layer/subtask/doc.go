// Package subtask lets a tool hand work to a model of its own: with a fresh context, its own session and its
// own budget, usually on a cheaper model. Only the answer comes back.
//
// An agent that reads a file of 5,000 lines pays for these lines in every later request. A subtask reads the
// file in its own session, and the agent's session gets a digest of a few hundred tokens.
//
// [Runner.RunSubtask] runs one subtask from inside a tool. [Runner.Wrappers] returns ready-made tools over the
// app's bare ones: agentic_read_file, agentic_fetch_url, agentic_grep and agentic_research.
//
// A subtask sees its system prompt, its message and its own tool results, and no word of its parent. Only the
// result reaches the parent. Its session has the ID of the parent's session, ":sub:" and the ID
// of the function call, so that two subtasks of one turn never meet. It stays in storage, and has what a
// shortened result left out.
//
// Each subtask is limited in model calls, time, tokens and money, and by what its parent has left. A result
// that a limit, an error or a cut reply has shortened is marked as truncated, and its text says so first.
package subtask
