// Package terms cuts a text into the terms by which it is found: what an index stores, and what a query asks
// for. Both sides must use the same rules, so they are in one place.
//
// [Terms] is pure, takes a text in any language, and never fails:
//
//   - Words are in lower case, without accents and compatibility forms: "Café" and "ＣＡＦÉ" are cafe.
//   - English words are reduced to their stem by Porter2: "searches" and "searching" are search.
//   - Frequent English words, such as "the", are left out.
//   - Scripts without spaces between words (Chinese, Japanese, Thai), and Korean, whose words take endings,
//     become pairs of adjacent characters. A lone character is a term of its own.
//   - Names are split: create_issue, create-issue, repo/create.issue and createIssue have the terms create and
//     issue. A name in camel case is also a term as a whole.
//
// A term has letters, digits and their marks only, and at most 64 bytes.
//
// [Query] adds to the terms of a query what they mean in English, for queries in other languages and with
// other words.
package terms
