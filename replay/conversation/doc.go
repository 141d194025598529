// Package conversation reads recorded conversations: OpenAI-style and Gemini-style ones, ADK
// events, Claude Code transcripts, and LoCoMo-style files.
//
// # Files
//
// A file has one conversation on each line, as JSON, in any of the forms below. Lines of one file
// may have different forms. The reader recognizes the form by the content, and ignores the name of
// the file.
//
//   - A value may take several lines, as in a pretty-printed file.
//   - A list of conversations is read as if each were on a line of its own.
//   - Blank lines, a byte order mark, CRLF and a missing newline at the end are accepted.
//   - A file compressed with gzip is unpacked.
//   - A line may have up to 256 MiB.
//   - Field names may be written as camelCase, snake_case or Go's names. Other fields are ignored.
//   - Bytes that are not UTF-8 become U+FFFD.
//
// Besides the list that makes the form, every object may have
//
//	id           a string or a number; a conversation without one is called FILE:LINE
//	model        the name of the model that answered
//	compactions  [{"at_message": 296, "trigger": "auto", "preTokens": 142431, "summary": "..."}]:
//	             the recorded application compacted its own conversation before the message with that
//	             index. Indexes count from 0, in errors too
//	qa           [{"id": "q1", "question": "...", "accepted_answers": ["35", "thirty-five"],
//	             "literal_in_conversation": true}]: questions about the conversation. The field answer may
//	             have a single answer instead. unanswerable true means that the conversation does not
//	             contain the answer
//	tools        the tools that the model was offered: {"type": "function", "function": {"name",
//	             "description", "parameters"}}, {"functionDeclarations": [...]}, or a declaration itself, with
//	             its JSON schema as parameters, parametersJsonSchema or input_schema. The old functions and
//	             config.tools are read, too. Elements that are none of these are left out
//
// # OpenAI-style
//
//	{"id": "a", "messages": [
//	  {"role": "system", "content": "You are terse."},
//	  {"role": "user", "content": "Is it cold in Oslo?"},
//	  {"role": "assistant", "content": null, "tool_calls": [
//	    {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}}]},
//	  {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "-3"},
//	  {"role": "assistant", "content": "Yes.", "usage": {"prompt_tokens": 80, "completion_tokens": 2}}]}
//
// The line may also be the list of messages itself.
//
//	role     system or developer, user, assistant, tool, or the old function
//	content  a string, null, or a list of parts: {"type": "text", "text"}, {"type": "refusal", "refusal"},
//	         {"type": "image_url", "image_url": {"url"}} with a data: URL or any other,
//	         {"type": "input_audio", "input_audio": {"data", "format"}}
//	ts       when it was recorded: RFC 3339, or seconds or milliseconds since 1970
//
// An assistant's message may have reasoning or reasoning_content (a string, read as a thought
// before the answer), tool_calls or the old function_call, and usage. Usage is as above, or
// Anthropic's: input_tokens, which excludes cached tokens, plus cache_read_input_tokens and
// cache_creation_input_tokens. Arguments are a JSON object in a string, or the object itself;
// anything else becomes {"arguments": the text}.
//
// A tool's message becomes {"result": content}, or {"error": content} with is_error true. Content
// that is JSON stays text, because the model read it as text. A user's message with compact_summary
// true is the application's own summary. The user did not write it, so it becomes the summary of a
// compaction and no message, unless compactions has an entry for it.
//
// # Gemini-style
//
//	{"id": "b", "systemInstruction": {"parts": [{"text": "You are terse."}]}, "contents": [
//	  {"role": "user", "parts": [{"text": "Is it cold in Oslo?"}]},
//	  {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]},
//	  {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"degrees": -3}}}]},
//	  {"role": "model", "parts": [{"text": "Yes."}]}]}
//
// The instruction may be a content, parts or a string, and may be in config. Roles are user (the
// default), model, and function or tool for responses. Parts are those of the API: text, thought,
// inlineData, fileData, functionCall, functionResponse, executableCode, codeExecutionResult. Base64
// may use either alphabet. Calls and responses need no IDs: a response without one answers the
// first open call of its name, in the newest answer with such a call.
//
// # ADK events
//
//	{"id": "c", "appName": "app", "userId": "u", "events": [
//	  {"author": "user", "content": {"role": "user", "parts": [{"text": "Is it cold in Oslo?"}]}},
//	  {"author": "bot", "content": {"role": "model", "parts": [{"text": "Yes."}]},
//	   "timestamp": 1767222000.5, "usageMetadata": {"promptTokenCount": 80, "candidatesTokenCount": 2}}]}
//
// is a session as ADK's REST server and adk-python write it, or as Go writes it with its own field
// names. A file may also have one event on each line. Events on consecutive lines are one
// conversation, whose ID is the first sessionId, or the name of the file if no event has one. A
// line with another sessionId begins another conversation. If one line cannot be read, its whole
// conversation is lost, because the rest would look complete.
//
// Events of the author user are the user's. All others are the agent's, so several agents become
// one. The reader skips compaction records, partial events, events without content, and the calls
// with which ADK asks the user for a confirmation or a credential. After the first compaction
// record it also ignores the provider's counts of prompts, because those prompts no longer had the
// whole history.
//
// # Claude Code transcripts
//
//	{"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "message": {"role": "user", "content": "Is it cold?"}}
//	{"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s", "message": {"id": "m1", "role": "assistant",
//	 "content": [{"type": "text", "text": "Yes."}], "usage": {"input_tokens": 3, "cache_read_input_tokens": 80, "output_tokens": 2}}}
//
// are the files ~/.claude/projects/*/*.jsonl. The reader takes consecutive lines of this form
// together:
//
//   - A line belongs to the conversation of its parent. A line without a parent begins a
//     conversation if its session is new. The ID is the last sessionId.
//   - Sub-agents (isSidechain) are conversations of their own, called SESSION/agent-ID, or
//     SESSION/sidechain-N in older files.
//   - If the user went back to an earlier message, the reader follows the parents of the newest
//     line. It leaves out the abandoned messages.
//   - The blocks of one answer, each on a line, become one answer again, followed by the results of
//     its parallel calls.
//   - The count of a prompt includes the tokens read from the cache and those written to it.
//
// A system line of the subtype compact_boundary is a compaction of the recorded application, with
// its compactMetadata. The user's message with isCompactSummary is its summary. Answers of the
// model "<synthetic>" and lines of other types never reached the model. They are left out, as are
// blocks other than text, thinking, tool_use, tool_result, image and document. A note counts them.
//
// # LoCoMo-style
//
//	{"sample_id": "e", "conversation": {"speaker_a": "Ida", "speaker_b": "Tom",
//	  "session_1_date_time": "1:56 pm on 8 May, 2025",
//	  "session_1": [{"speaker": "Ida", "dia_id": "D1:1", "text": "The boat is called Petrel.", "blip_caption": "a blue boat"}]},
//	 "qa": [{"question": "What is it called?", "answer": "Petrel", "evidence": ["D1:1"], "category": 4}]}
//
// The first speaker becomes the user and the second the agent. Sessions are read in the order of
// their numbers. The first message of a session begins with the date, in brackets, and a picture
// becomes its caption. Questions of category 5, and those that have only an adversarial_answer, are
// unanswerable.
//
// # The normal form
//
// Every form becomes the same kind of [Conversation]. [Conversation.Notes] lists the changes that
// this took:
//
//   - Consecutive answers are joined: their parts follow one another, the count of the prompt is
//     that of the first, and output tokens add up. They stay separate if the first made calls and a
//     result is between them.
//   - Consecutive user messages are joined, unless the recording has no answer at all. An empty
//     message becomes "(empty)".
//   - A recording that begins with an answer gets the user message "(start)" before it.
//   - A result goes to its call, however far before it the call is. If several results answer one
//     call, the last one counts. A call without a result gets {"error": "the recording has no
//     result for this call"}.
//   - Missing and repeated IDs are replaced, with the same ones in every reading. A call without a
//     name is named "tool".
//   - All system messages together are the instruction.
//
// For example, the messages
//
//	assistant "Hello."
//	user "Is it cold?"
//	user "In Oslo?"
//	assistant calls weather
//
// become two turns: "(start)" with the answer "Hello.", and "Is it cold?" and "In Oslo?" with the
// call, which gets the error as its result. The notes count one made-up message, one joined message
// and one call without a result.
//
// # Errors
//
// An [*Error] has the file, line and column of what cannot be read: damaged JSON, a field of
// another type than the one described, an unknown role or part, a result without a call, or a
// conversation without a message. [Reader.Next] continues with the next conversation after such an
// error.
package conversation
