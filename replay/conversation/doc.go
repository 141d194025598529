// Package conversation reads recorded conversations: OpenAI-style and Gemini-style ones, ADK events, Claude Code
// transcripts, and LoCoMo-style files.
//
// # Files
//
// A file has one conversation on each line, as JSON, in any of the forms below; lines may differ in form. Its content
// tells the form, not its name. A value may also take several lines, as a pretty-printed file does, and a list of
// conversations is read as if each stood on a line. Blank lines, a byte order mark, CRLF and a missing end of the last line do no harm, and a file compressed by
// gzip is unpacked. A line may have 256 MiB. Fields that are not named here are not looked at. Field names
// may be written as camelCase, snake_case or Go's names. Bytes that are no UTF-8 become U+FFFD.
//
// Beside the list that makes the form, every object may have
//
//	id           a string or a number; without one the conversation is called FILE:LINE
//	model        the name of the model that answered
//	compactions  [{"at_message": 296, "trigger": "auto", "preTokens": 142431, "summary": "..."}]:
//	             the recorded application cut its own conversation before the message of that index.
//	             Indexes count from 0, also in errors.
//	qa           [{"id": "q1", "question": "...", "accepted_answers": ["35", "thirty-five"],
//	             "literal_in_conversation": true}]: questions about what was said; a single answer may also
//	             stand in answer. With unanswerable true the conversation does not hold the answer
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
// The list of messages may also be the line itself.
//
//	role     system or developer, user, assistant, tool, or the old function
//	content  a string, null, or a list of parts: {"type": "text", "text"}, {"type": "refusal", "refusal"},
//	         {"type": "image_url", "image_url": {"url"}} with a data: URL or another one,
//	         {"type": "input_audio", "input_audio": {"data", "format"}}
//	ts       when it was recorded: RFC 3339, or seconds or milliseconds since 1970
//
// An assistant's message may have reasoning or reasoning_content (a string: a thought in front of the answer),
// tool_calls or the old function_call, and usage as above, or Anthropic's: input_tokens, which no cache held, plus
// cache_read_input_tokens and cache_creation_input_tokens. Arguments are a JSON object in a string, or the
// object itself; what is neither becomes {"arguments": the text}. A tool's message becomes {"result": content}, or
// {"error": content} with is_error true; content that is JSON stays text, as the model was sent it. A
// user's message with compact_summary true is the application's own summary: the user did not say it, so
// it is left out, and is the compaction's summary unless compactions has an entry for it.
//
// # Gemini-style
//
//	{"id": "b", "systemInstruction": {"parts": [{"text": "You are terse."}]}, "contents": [
//	  {"role": "user", "parts": [{"text": "Is it cold in Oslo?"}]},
//	  {"role": "model", "parts": [{"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}]},
//	  {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": {"degrees": -3}}}]},
//	  {"role": "model", "parts": [{"text": "Yes."}]}]}
//
// The instruction may be a content, parts or a string, and may stand in config. Roles are user (also if there is
// none), model, and function or tool for responses. Parts are the API's: text, thought, inlineData,
// fileData, functionCall, functionResponse, executableCode, codeExecutionResult; base64 in either alphabet.
// Calls and responses need no IDs: a response without one belongs to the first call of its name that
// waits in the newest answer with such a call.
//
// # ADK events
//
//	{"id": "c", "appName": "app", "userId": "u", "events": [
//	  {"author": "user", "content": {"role": "user", "parts": [{"text": "Is it cold in Oslo?"}]}},
//	  {"author": "bot", "content": {"role": "model", "parts": [{"text": "Yes."}]},
//	   "timestamp": 1767222000.5, "usageMetadata": {"promptTokenCount": 80, "candidatesTokenCount": 2}}]}
//
// is a session as ADK's REST server and adk-python write it, or Go with its own field names. A file may also
// have one event on each line: all events on consecutive lines are one conversation, called by the first
// sessionId, or by the file's name if no event has one; a line with another sessionId begins another. One line
// that cannot be read loses such a conversation, since half of it would pass for all.
//
// An event of the author user is the user's, every other one the agent's: several agents become one. Compaction
// records, partial events, events without content, and the calls by which ADK asks the user for a
// confirmation or a credential are passed over. Behind the first compaction record, what the provider counted
// for prompts is too: these did not hold all that was said before.
//
// # Claude Code transcripts
//
//	{"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s", "message": {"role": "user", "content": "Is it cold?"}}
//	{"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s", "message": {"id": "m1", "role": "assistant",
//	 "content": [{"type": "text", "text": "Yes."}], "usage": {"input_tokens": 3, "cache_read_input_tokens": 80, "output_tokens": 2}}}
//
// are the files ~/.claude/projects/*/*.jsonl. All such lines that follow one another are read together. A line belongs
// to the conversation of its parent; one without a parent begins a conversation if its session is new, which is called
// by its last sessionId. Sub-agents (isSidechain) are conversations of their own, called SESSION/agent-ID, or
// SESSION/sidechain-N in older files. Of a session that the user took back to an earlier message, what the newest line
// goes back to is read. The blocks of one answer, each on a line, are one answer again, with the results of parallel
// calls behind it. Prompts are counted with what came from the cache and what was put into it.
//
// A system line of the subtype compact_boundary is a compaction of the recorded application, with its
// compactMetadata, and the user's message with isCompactSummary its summary. Answers of the model "<synthetic>" and
// lines of other types never reached the model. They are left out, and so are blocks other than text, thinking,
// tool_use, tool_result, image and document; a note counts them.
//
// # LoCoMo-style
//
//	{"sample_id": "e", "conversation": {"speaker_a": "Ida", "speaker_b": "Tom",
//	  "session_1_date_time": "1:56 pm on 8 May, 2025",
//	  "session_1": [{"speaker": "Ida", "dia_id": "D1:1", "text": "The boat is called Petrel.", "blip_caption": "a blue boat"}]},
//	 "qa": [{"question": "What is it called?", "answer": "Petrel", "evidence": ["D1:1"], "category": 4}]}
//
// The first speaker is taken for the user, the second for the agent, and sessions are read in the order of their
// numbers. The first message of a session tells its date, in brackets, and a picture is its caption. Questions of the
// category 5, and those with an adversarial_answer alone, are unanswerable.
//
// # The normal form
//
// Whatever the form, a [Conversation] comes out the same way, and [Conversation.Notes] says what had to be
// changed for it:
//
//   - Answers that follow one another are one: parts joined, the first one's count of the prompt, output
//     added up. A result between them parts them, if the first one made calls.
//   - User messages that follow one another are one, unless nobody ever answers. An empty one says "(empty)".
//   - A recording that begins with an answer gets the user message "(start)" in front of it.
//   - A result goes to its call wherever it stands behind it; the last one for a call counts. A call without a
//     result gets {"error": "the recording has no result for this call"}.
//   - IDs that are missing or not unique are made up, the same ones at every reading. A call without a name
//     is named "tool".
//   - System messages make up the instruction, wherever they stand.
//
// What cannot be read is an [*Error] with file, line and column: JSON that is damaged or cut off, fields of
// another kind than the one described, unknown roles and parts, a result without a call, a conversation
// in which nobody speaks.
package conversation
