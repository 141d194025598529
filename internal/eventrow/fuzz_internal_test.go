package eventrow

import "testing"

// Any row of a damaged file decodes to an event or returns an error.
func FuzzARowIsReadOrRefused(f *testing.F) {
	for _, seed := range [][3]string{
		{`{"parts":[{"text":"hi"}],"role":"user"}`, `{"state_delta":{},"artifact_delta":{}}`, `{"exact":{"/Content/Parts/0/ThoughtSignature":""}}`},
		{`{"parts":[{"videoMetadata":{}}]}`, `{}`, `{"exact":{"/Content/Parts/0/VideoMetadata/EndOffset":1500}}`},
		{`{"parts":[null]}`, `null`, `{"exact":{"/Content/Parts/0/Text":"x","/Timestamp/wall":1,"/Content/Parts/9":1}}`},
		{`[]`, `{"artifact_delta":{"a":1.5}}`, `{"time":{"seconds":9223372036854775807,"nanoseconds":-1}}`},
		{``, `{`, `{"citation_metadata":{"citations":[{"publicationDate":{"month":1}}]}}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, content, actions, extra string) {
		row := &Stored{ID: "e", Time: "2026-01-01T00:00:00.000000000Z", content: []byte(content), actions: []byte(actions), extra: []byte(extra)}
		ev, err := Decode(row)
		if (ev == nil) == (err == nil) {
			t.Fatalf("%v, %v", ev, err)
		}
		if err == nil {
			if _, err := Encode(ev); err != nil {
				t.Fatalf("a decoded event cannot be stored again: %v", err)
			}
		}
	})
}
