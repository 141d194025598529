package cli

const auditHelp = `Audit reads a session file of package persistence. It opens the file so that it cannot write, also while
an app is using it. Without a subcommand it lists the sessions, or shows one at a glance.

SESSION is the ID of a session, or app/user/id where the ID alone is not unique; --app and --user narrow
the choice. In a file with one session it may be left out. A file that is named like a subcommand is
written ./list.

While an app runs, or after one crashed, the newest events stand beside the file in FILE.db-wal: keep both
together. A file that was copied without it is read all the same, and a line on stderr says so. With a -wal
and no -shm, SQLite makes FILE.db-shm, and it stays there. Without a -wal nothing is made beside the file, and
it may stand in a read-only folder. What is shown is text for a terminal: control characters are escaped.
Token counts are estimates.

JSON: --json writes one object a line. Fields may be added; none changes its meaning. Without a
subcommand: the fields of list, and
  first, last     times of the first and the last event, as their writers took them to be
  turns           invocations in which something was said
  newest          the newest compaction, as compactions has it; left out if there is none
  findings        what verify finds in this session; empty if it finds nothing
  error           why the view could not be made; then view_events, summaries and view_tokens are 0

Exit codes:
  0    fine
  1    findings (verify, seal)
  2    bad usage, a file that cannot be opened, a session that is not there (also by --app and --user)
  3    something failed midway
  130  interrupted; the message says what was done by then`

const auditExample = `  longsession audit sessions.db
  longsession audit sessions.db order-1
  longsession audit history sessions.db order-1 --from 100 --limit 20
  longsession audit diff sessions.db shop/ada/order-1
  longsession audit verify sessions.db && echo fine
  longsession audit seal sessions.db --key key.pem -o monday.seal
  longsession audit verify sessions.db --against monday.seal --public-key public.pem
  longsession audit export sessions.db order-1 --format html --redact-preset all -o order-1.html`

const auditListHelp = `List shows the sessions of a file: their events, how many of these are compactions, when they were made and
last written to, and how large they are: what the model sees, and what all of it would be.

JSON: one object for each session:
  app, user, session    its name
  created, updated      times in UTC; updated is that of the newest event
  events, compactions   events stored, and how many of these are compaction records
  contested             true if two processes compacted it at once, or the like: it is loaded whole
  view_events, summaries, view_tokens   the view that prompts are made of, see context, in tokens as estimated
  all_tokens            all of it, records left out
  error                 why it could not be read; then the sizes are 0`

const auditHistoryHelp = `History shows everything that was stored, in the order of the commits: what the model still sees and what
it does not, and the compactions. An event that a record stands for says which, as the file marks it; see
verify. Events are read in small pages, so a history of any length takes little memory.

JSON: one object for each event:
  seq, id, time, invocation_id, author, branch
  text, thoughts        what was said and, if it was stored, thought
  calls, responses      lists of {id, name, args} and {id, name, response}
  other                 other parts, such as files, in words
  state                 what it set in the session's state
  error                 its error code and message
  tokens                its size in a prompt, estimated; 0 for a record
  record                set for a compaction, as compactions has it
  covered_by            ID of the record that stands for it
  unreadable            why it cannot be read; then only seq, id and covered_by are set`

const auditContextHelp = `Context shows the view of the session, in order: summaries in full, and the events that no summary stands for.
It is what an app gives to ADK, made by the library's own code as an app would get it. ADK makes the prompt of
each agent from it: it leaves out events without content and those of other branches, tells what other agents
said as a message of the user, and begins later for an agent that is not to see earlier turns. What an app's
plugins and callbacks do to a prompt is not known here.

JSON: one object for each, as history has them, and
  content               the genai content: role and parts
  seq                   left out for a summary; its id is that of its record, and record is set`

const auditCompactionsHelp = `Compactions shows every compaction record: why and when it was made, what it stands for, how much smaller
that became, whether the model sees its summary, and the summary.

JSON: one object for each record:
  seq, record_id        number of its event, and its own ID
  state                 live (shown), absorbed (another record stands in for it), replaced (by a later one
                        that stands for all that it does), copy (of an earlier record, which counts) or
                        unreadable
  kind, trigger, level, branch, agent, focus, note, model
  created_at, start, end      when it was made, and of what it stands for
  covers, absorbs, events     events of its own window, records it stands in for, all events it stands for
  original_tokens, compacted_tokens, ratio
  summarizer_prompt_tokens, summarizer_output_tokens      as the model reported them
  absorbed_by           the record that stands in for it
  summary, problem      problem says why it cannot be read`

const auditDiffHelp = `Diff shows for each summary that the model sees what it replaced, side by side in two columns if the terminal
is wide enough (100 columns), else one under the other. Lines take up 1,000 columns at most. What a summary
stands for through others that it absorbed is all shown. With --all also for records whose summaries are not
shown any more.

JSON: one object for each, as compactions has them, and
  replaced              the events, as history has them
  through               the records by which it stands for them, itself first`

const auditVerifyHelp = `Verify works out from the records alone what stands for what, and checks the file, or one session of it:
  I1            hidden only if summarized: what an app would not load or show is stood for by a summary
  I2            append-only: numbers from 1 without holes, in the order in which the rows were inserted,
                and the session's count agrees
  I3            what the model sees is well-formed: no response without its call, and so on
  I4            shown raw: the newest agent event, the message of a running turn, calls that wait for an
                answer, the newest event of each remote agent (what an app pins itself is not known here)
  I5            not more summaries in a branch than --max-summaries, and one for each agent's tool rounds
                of a running turn
  covered_by    the mark on each event is what the records say
  contested     so is the mark on the session
  ties          so are the columns unit, anchor, last_user and last_agent and the tables calls and
                invocations; not where I2 finds something, for then it cannot be worked out
  state         each key of the session's state has the value that the newest event has set it to, if any
                has; state of users and apps, which several sessions set, is not checked
  times         a session was last written to when its newest event says, and created at some time
  chain         each event's digest follows from the event and the digest before it; events that are older
                than digests have none, are older than all that have one, and are counted at the end
  record        compaction records can be read and are marked as what they are. Each reference to an event
                has its author, invocation, time and branch, and the event came before the record. Level,
                number of events, first and last time, and sizes are recomputed from what the record names
  event, read   events and sessions can be read, and what is text is stored as text
  schema        tables, views and indexes are as persistence makes them, and nothing else is in the file:
                a table, view, index or trigger of another maker is a finding; the file has one identity
  log           the file does not say that its newest events are in a -wal that is not there
  integrity, foreign_key    SQLite's own checks of the whole file
  seal          with --against: the file holds what the seal says. An event that was changed, deleted,
                inserted or moved since is a finding, and so is a session that is gone; what was added is none
Not checked: state of users and apps, and state that a session was made with; and, without a
seal, changes by somebody who computed all digests behind them anew.

A seal is what audit seal has written. --public-key checks that it was signed with the key to that one, and
was not changed.

It writes a line for each finding, with session, event and rule, and ends with exit code 1; without
findings it says what was checked, and ends with 0.

JSON: a line for each finding, and one at the end:
  type                  finding, or checked for the last line
  app, user, session    left out for the file itself
  seq, event, rule, text
  sessions, events, records, undigested, views, gone, findings    of the last line: how much was checked;
                        undigested counts events without a digest, views the sessions whose view could be
                        made, gone those that were deleted meanwhile
  against               of the last line, with --against: made (when, by the seal), signed (its signature was
                        checked), sessions, events, added_sessions, added_events, findings`

const auditExportHelp = `Export writes everything that a session has stored, records included:
  jsonl       one event a line, as encoding/json writes a session.Event of ADK: replay reads it
  markdown    for people
  html        one page that needs nothing else
What a terminal, an editor or a browser would act on is escaped in the last two, such as control characters.

Without --redact and --redact-preset nothing is taken out: the export holds all that was said, private
or not, and a warning on standard error says so. State that no event of the session has set, such as
that which it was made with, is not written.

--redact takes out what a Go regular expression matches, and --redact-preset what is known by its form:
  keys        private keys, keys and tokens of well-known services, and values under names such as password
  email       e-mail addresses
  card        numbers of payment cards: a known issuer, the right length and the right check digit
  iban        bank accounts: the length that the country has, and the right check digits
  phone       phone numbers: with + or 00, in the forms of many countries, or behind a word such as "tel"
  all         all of these
Presets go by form alone: names, addresses and dates of birth need patterns. Look at the result.

A match becomes [redacted], in every text, thought, argument, result, state value, summary, focus, note,
error, file name, name and ID, and in the keys of each of these. It is found as it is written, and also
where base64, URL encoding, the escapes of JSON or entities hide it, up to several times over, or
invisible characters, full-width letters and digits of other scripts do. Encoded text is taken out as a
whole. A match may span a key and its value, as JSON on one line without spaces shows them, and the
parts of a message one behind the other, with nothing, a space or a line break between them; each piece
loses its part. No two events are looked at together, and pictures and other files only as text and
base64. But where a summary, a focus or a note was cut short, or ends, in the middle of what matched in an
event, that beginning goes too.

An ID, an author or a branch becomes the same everywhere, and no two become the same, so that answers
still name their calls. Keys that become the same are numbered. A number in an argument or a result
becomes a text, a time that matches is cut to the second, a count becomes 0, and data of a file is left
out.

Each line is then looked at as it is written. If any value has a part in a match still, such as the year
of a time, nothing is written, the exit code is 2, and the message names the event and the field,
without what was found. A match within a name of a field is none. With redaction everything is gone
through twice, or three times where there are summaries.

-o writes to a temporary file first: it is whole or as it was, and for its owner alone. A link stays, and
what it leads to is replaced. Folders, devices, pipes and databases are refused, and so is what SQLite keeps
beside one. --json is --format jsonl, or with -o one object about what was written: file, format, events.`
