package toolresult

import "github.com/adk-go-ext/longsession/layer/toolresult/store"

// write masks the chosen results in the request.
func (p *maskPlan) write(put func(string, store.Result) error, masked *Masked) {
	for j := range p.results {
		result := &p.results[j]
		if result.hide && !result.masked {
			if err := p.writeMask(result, put); err != nil {
				if masked.Failed++; masked.Err == nil {
					masked.Err = err
				}
				continue
			}
		}
		if !result.hide && !result.masked {
			continue
		}
		masked.Results++
		masked.Tokens += max(0, result.tokens-result.mask)
		masked.Refs = append(masked.Refs, refIn(result.response.Response))
		if result.hide && result.since > p.model && !masked.Batch {
			masked.Batch, masked.At = true, result.content
		}
	}
}

// writeMask replaces the response of one result, unless put fails.
func (p *maskPlan) writeMask(result *result, put func(string, store.Result) error) error {
	size, response := &result.cachedSize, result.response
	if size.ref == nil || put != nil {
		ref, own := IsShortened(response.Name, response.Response)
		if !own {
			whole := store.ResultOf(response.Response)
			if err := callPut(put, response.Name, whole); err != nil {
				return err
			}
			ref = whole.Ref
		}
		if size.ref == nil {
			size.ref, size.text = ref, maskText(size.tokens)
			if result.fingerprint != 0 {
				p.sizes.known.Add(result.fingerprint, *size)
			}
		}
	}
	response.Response = newMask(response.Response, size.text, size.ref)
	return nil
}

// callPut calls put, which may be nil, and returns its panic as an error.
func callPut(put func(string, store.Result) error, tool string, whole store.Result) (err error) {
	if put == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return put(tool, whole)
}
