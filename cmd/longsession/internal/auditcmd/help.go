package auditcmd

const auditHelp = `Audit reads a session file of package persistence. It opens the file read-only, so it can run while an app
uses the file. Without a subcommand it lists the sessions, or sums one up.

SESSION is the ID of a session, or app/user/id if the ID alone is not unique; --app and --user narrow the
choice. If the file has one session, SESSION may be left out. Write ./list for a file that is named like a
subcommand.

While an app runs, or after it crashed, the newest events are next to the file, in FILE.db-wal: keep both
together. Audit also reads a file that was copied without its -wal, with a warning on stderr. If there is a
-wal but no -shm, SQLite creates FILE.db-shm and leaves it there. Without a -wal nothing is created, so the
file may be in a read-only folder. Audit escapes control characters in what it shows. Token counts are
estimates.

JSON: --json writes one object per line. A later version may add fields, but none changes its meaning.
Without a subcommand: the fields of list, and
  first, last     times of the first and the last event, as their writers recorded them
  turns           invocations in which something was said
  newest          the newest compaction, as in compactions; left out if there is none
  findings        the findings of verify in this session; may be empty
  error           why the view could not be made; then view_events, summaries and view_tokens are 0

Exit codes:
  0    fine
  1    findings (verify, seal)
  2    bad usage, a file that cannot be opened, or a session that does not exist (also by --app and --user)
  3    the command failed midway
  130  interrupted; the message says how far the command came`

const auditExample = `  longsession audit sessions.db
  longsession audit sessions.db order-1
  longsession audit history sessions.db order-1 --from 100 --limit 20
  longsession audit diff sessions.db shop/ada/order-1
  longsession audit verify sessions.db && echo fine
  longsession audit seal sessions.db --key key.pem -o monday.seal
  longsession audit verify sessions.db --against monday.seal --public-key public.pem
  longsession audit export sessions.db order-1 --format html --redact-preset all -o order-1.html`

const auditListHelp = `List shows the sessions of a file: the number of their events and of the compactions among them, the times
of creation and of the last update, and two sizes: that of the view, which the model sees, and that of all
events.

JSON: one object for each session:
  app, user, session    its name
  created, updated      times in UTC; updated is the time of the newest event
  events, compactions   events stored, and the number of compaction records among them
  contested             true if its records conflict, for example because two processes compacted it at once;
                        an app then loads the whole session
  view_events, summaries, view_tokens   the size of the view (see context); tokens are estimates
  all_tokens            the size of all events without the records
  error                 why the session could not be read; then the sizes are 0`

const auditHistoryHelp = `History shows everything that was stored, in the order of the commits: the events that the model still sees,
those that it no longer sees, and the compactions. An event that a record covers names the record, by the mark
in the file (see verify). History reads the events in small pages, so it takes little memory for any length.

JSON: one object for each event:
  seq, id, time, invocation_id, author, branch
  text, thoughts        what was said and, if it was stored, thought
  calls, responses      lists of {id, name, args} and {id, name, response}
  other                 other parts, such as files, in words
  state                 the session state that it set
  error                 its error code and message
  tokens                its size in a prompt, estimated; 0 for a record
  record                set for a compaction, with the fields of compactions
  covered_by            ID of the record that covers it
  unreadable            why it cannot be read; then only seq, id and covered_by are set`

const auditContextHelp = `Context shows the view of the session, in order: the summaries in full, and the events that no summary covers.
This is what an app gives to ADK; the library's own code makes it, as it would for an app. ADK makes each
agent's prompt from it: it leaves out events without content and those of other branches, presents the words
of other agents as a message of the user, and begins later for an agent that is not to see earlier turns.
Context does not know what the plugins and callbacks of an app do to a prompt.

JSON: one object for each event or summary, with the fields of history, and
  content               the genai content: role and parts
  seq                   left out for a summary; its id is that of its record, and record is set`

const auditCompactionsHelp = `Compactions shows every compaction record: the reason and the time of the compaction, the events that it
covers, their size before and after, whether the model sees the summary, and the summary.

JSON: one object for each record:
  seq, record_id        number of its event, and its own ID
  state                 current (shown), absorbed (another record replaced it with others), replaced (a
                        later record covers everything that it covers), copy (of an earlier record, which
                        counts) or unreadable
  kind, trigger, level, branch, agent, focus, note, model
  created_at, start, end      when it was made, and the time span that it covers
  covers, absorbs, events     events of its own window, records that it absorbed, all events that it covers
  original_tokens, compacted_tokens, ratio
  summarizer_prompt_tokens, summarizer_output_tokens      as the model reported them
  absorbed_by           the record that absorbed it
  summary, problem      problem is the reason why it cannot be read`

const auditDiffHelp = `Diff shows each summary that the model sees next to the events that it replaced, in two columns on a terminal
of 100 columns or more, else one below the other. Lines have 1,000 columns at most. The events include those
that the summary covers through records it absorbed. With --all, diff includes records whose summaries are no
longer shown.

JSON: one object for each record, with the fields of compactions, and
  replaced              the events, with the fields of history
  through               the records through which it covers them, itself first`

const auditVerifyHelp = `Verify works out from the records which events they cover, and checks the file, or one session of it:
  I1            hidden only if summarized: a summary covers every event that an app would not load or show
  I2            append-only: events are numbered from 1 without gaps, in the order in which the rows were
                inserted, and the session's count agrees
  I3            the view is well-formed: for example, no response without its call
  I4            shown raw: the newest agent event, the message of a running turn, calls that wait for an
                answer, the newest event of each remote agent (events that an app pins are not known here)
  I5            no more summaries in a branch than --max-summaries, plus one for each agent's tool rounds
                of a running turn
  covered_by    the mark on each event agrees with the records
  contested     the mark on the session agrees with the records
  links         the columns unit, anchor, last_user and last_agent and the tables calls and invocations
                agree with the events; not checked where I2 has a finding, since they depend on it
  state         each key of the session's state has the value that the newest event set, if any did; state
                of users and apps, which several sessions share, is not checked
  times         a session was last updated at the time of its newest event, and it has a time of creation
  chain         each event's digest follows from the event and the previous digest; events from versions
                without digests have none, must be older than all others, and are counted at the end
  record        compaction records can be read and are marked as records. Each reference to an event
                has its author, invocation, time and branch, and the event came before the record. Level,
                number of events, first and last time, and sizes agree with the events that the record names
  event, read   events and sessions can be read, and text is stored as text
  schema        tables, views and indexes are as persistence creates them, and the file contains no other
                table, view, index or trigger; the file has one identity
  log           the file does not say that its newest events are in a -wal that is missing
  integrity, foreign_key    SQLite's own checks of the whole file
  seal          with --against: the file agrees with the seal. An event that was changed, deleted, inserted
                or moved since is a finding, and so is a missing session; events added since are not
Not checked: state of users and apps, and the state that a session was created with; and, without a seal,
changes by somebody who also recomputed all later digests.

A seal is a file that audit seal has written. --public-key checks that the matching private key signed the
seal, and that the seal was not changed.

Verify writes one line per finding, with session, event and rule, and ends with exit code 1. Without
findings it lists what it checked, and ends with exit code 0.

JSON: one line per finding, and one line at the end:
  type                  finding, or checked for the last line
  app, user, session    left out for the file itself
  seq, event, rule, text
  sessions, events, records, undigested, views, gone, findings    of the last line: the numbers checked;
                        undigested counts events without a digest, views the sessions whose view could be
                        made, gone those that were deleted meanwhile
  against               of the last line, with --against: made (the time in the seal), signed (its signature
                        was checked), sessions, events, added_sessions, added_events, findings`

const auditSealHelp = `Seal writes digests of what a file holds now. Keep the seal where those who can write to the file cannot
change it: on another machine, in a repository, on paper. Later, verify --against reports what was changed,
deleted, inserted or moved since. A seal contains no content of events, but it contains the names of apps,
users and sessions, and 8 bytes for each event.

The file itself chains its events by digests (see docs/schema.md), so verify finds changes without a seal
too, except those by somebody who recomputed the digests. If events no longer fit the chain, seal lists
them, writes nothing and ends with exit code 1. With --force it seals them as they are. State is not in the
chain.

--key signs the seal with ed25519: a file in PEM, PKCS #8, not encrypted. To create one, and its public key:
  openssl genpkey -algorithm ed25519 -out key.pem
  openssl pkey -in key.pem -pubout -out public.pem

-o writes a temporary file and moves it to its place, readable by its owner alone: other processes see the
old file or the whole new one.

JSON: the seal itself is one object on one line:
  seal                  format, version, made (time in UTC), database (ID of the file) and sessions
  signature             algorithm, key (SHA-256 of the public key) and value; left out if it is not signed.
                        It signs the JSON of seal without white space
Each session has app, user, session, created, events, digest (hexadecimal) and rows (base64). With -o and
--json, seal writes one object about the file: file, sessions, events, signed.`

const auditExportHelp = `Export writes everything that a session has stored, records included:
  jsonl       one event per line, as encoding/json writes a session.Event of ADK; replay can read it
  markdown    for people
  html        one self-contained page
The last two escape what a terminal, an editor or a browser would obey, such as control characters.

Without --redact and --redact-preset the export contains everything that was said, private or not; a warning
on standard error says so. It does not contain state that no event has set, such as the state that the
session was created with.

--redact replaces the matches of a Go regular expression, --redact-preset well-known forms of private data:
  keys        private keys, keys and tokens of well-known services, and values under names such as password
  email       e-mail addresses
  card        numbers of payment cards: a known issuer, the right length and the right check digit
  iban        bank accounts: the length for the country, and the right check digits
  phone       phone numbers: with + or 00, in the forms of many countries, or after a word such as "tel"
  all         all of these
Presets know forms only: names, addresses and dates of birth need patterns. Look at the result.

A match becomes [redacted], in every text, thought, argument, result, state value, summary, focus, note,
error, file name, name and ID, and in the keys of JSON objects. Export finds a match as it is written and
also where base64, URL encoding, JSON escapes or entities hide it, even several times over, or where
invisible characters, full-width letters or digits of other scripts do. It redacts encoded text as a
whole. A match may span a key and its value, as JSON on one line without spaces shows them, and
consecutive parts of a message, joined by nothing, a space or a line break; each piece loses its part.
Export does not join events, and it searches pictures and other files only as text and base64. But if a
summary, a focus or a note ends in the middle of a match in an event, the beginning is redacted too.

The same ID, author or branch becomes the same text everywhere, and different ones stay different, so
that responses still name their calls. Keys that become equal are numbered. A number in an argument or a
result becomes text, a time that matches is cut to the second, a count becomes 0, and the data of a file is
left out.

Export then searches each line again as it is written. If a value still contains a part of a match, such as
the year of a time, it writes nothing and ends with exit code 2; the message names the event and the field,
but not the match. The names of fields do not count. With redaction, export reads everything twice, and
three times if there are summaries.

-o writes a temporary file and moves it to its place, readable by its owner alone. If the name is a link,
the link stays and its target is replaced. Export refuses folders, devices, pipes, databases, and the files
that SQLite keeps next to a database. --json means --format jsonl or, with -o, one object about the file:
file, format, events.`
