// Package redis tests compaction over a session service that others wrote: the Redis service of adk-utils-go,
// on a redis-server of the test's own. There is nothing in it to import.
package redis
