// Package catalog has 200 realistic declarations of tools, as 15 typical MCP servers offer them: files, git,
// GitHub, Slack, Jira, Kubernetes, PostgreSQL, a calendar, mail, a browser, Xcode, a cloud, payments, a wiki
// and monitoring. Tests, benchmarks and examples of tool search share them.
//
// Names, parameters and descriptions have the style of well-known servers and are our own words. All 200
// together take about 20,000 tokens in a prompt.
package catalog
