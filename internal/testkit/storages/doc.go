// Package storages opens the session services that tests run on: ADK's in memory ([InMemory]), ADK's over
// a database ([Database]) and this module's over a SQLite file ([Persistence]). Only tests may import it.
package storages
