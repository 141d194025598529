package testkit

// DropSearch takes the index of words, the newest part of the schema, out of a session file, as a file of an older
// version has none.
const DropSearch = `DROP TRIGGER events_unindexed; DROP TABLE search_words; DROP TABLE search; DROP TABLE search_turns;
	DROP TABLE search_authors; DROP TABLE search_terms; DROP TABLE search_episodes; DROP TABLE search_sessions; DROP TABLE erasing`
