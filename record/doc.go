// Package record defines the compaction record: one JSON object in the CustomMetadata of an
// otherwise empty event. The record holds a summary and names the events that the summary stands
// for.
//
// The object has JSON-native values only (strings, float64 numbers, bools, arrays, maps). ADK's
// session services store CustomMetadata by way of JSON, SQL and structpb, and only such values
// survive the round trip. Times are RFC 3339 strings with nanoseconds, in UTC.
//
// A record names every event that it covers with a [Ref]; it never covers a range of time. A
// reference that no longer names exactly one event covers nothing, so the event stays visible:
//
//	stored: e1 e2 e3, record covers e1 e2      the view shows: summary e3
//	stored: e2 e3, record covers e1 e2         the view shows: summary e3
//	stored: e1 e1 e2 e3, record covers e1 e2   the view shows: summary e1 e1 e3
//
// [From] reads the record of an event, [Set] writes it, and an [Index] finds the events it names.
// All functions may be called concurrently, but an Index may not.
package record
