package prompt

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"

	lru "github.com/hashicorp/golang-lru/v2"
)

// maxSchemas is how many schemas are remembered by their address.
const maxSchemas = 4096

// schemaDigests remembers the digests of schemas. ADK makes a new declaration for every request, but the
// schema keeps its pointer: see TestPinTheSchemaOfADeclarationKeepsItsPointer. A schema that is in use must
// not be changed, since another goroutine may be sending it.
type schemaDigests struct {
	pointers *lru.Cache[any, schemaDigest]
	maps     *lru.Cache[uintptr, mapDigest]
}

type schemaDigest struct {
	sum [sha256.Size]byte
	ok  bool // the schema has a JSON form
}

// mapDigest keeps the map, so that no other map can get its address.
type mapDigest struct {
	schemaDigest
	schema any
}

func newSchemaDigests() *schemaDigests {
	d := &schemaDigests{}
	// New fails only for a size that is not positive.
	d.pointers, _ = lru.New[any, schemaDigest](maxSchemas)
	d.maps, _ = lru.New[uintptr, mapDigest](maxSchemas)
	return d
}

// of returns the SHA-256 of a schema's JSON, and a fixed one for a schema that is absent.
func (d *schemaDigests) of(schema any) ([sha256.Size]byte, bool) {
	value := reflect.ValueOf(schema)
	switch value.Kind() {
	case reflect.Invalid:
		return [sha256.Size]byte{}, true
	case reflect.Pointer:
		if value.IsNil() {
			return [sha256.Size]byte{}, true
		}
		if known, found := d.pointers.Get(schema); found {
			return known.sum, known.ok
		}
		digest := digestOf(schema)
		d.pointers.Add(schema, digest)
		return digest.sum, digest.ok
	case reflect.Map:
		if value.IsNil() {
			return [sha256.Size]byte{}, true
		}
		if known, found := d.maps.Get(value.Pointer()); found {
			return known.sum, known.ok
		}
		digest := digestOf(schema)
		d.maps.Add(value.Pointer(), mapDigest{digest, schema})
		return digest.sum, digest.ok
	}
	digest := digestOf(schema)
	return digest.sum, digest.ok
}

func digestOf(schema any) schemaDigest {
	data, err := json.Marshal(schema)
	return schemaDigest{sha256.Sum256(data), err == nil}
}
