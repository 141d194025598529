package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
)

// sealFile is the content of a seal's file.
type sealFile struct {
	Seal      json.RawMessage `json:"seal"`
	Signature *signature      `json:"signature,omitempty"`
}

// signature signs the JSON of the member seal without white space between its tokens.
type signature struct {
	Algorithm string `json:"algorithm"`
	// Key is the SHA-256 of the public key (PKIX, DER), in hexadecimal: the key to check with.
	Key   string `json:"key"`
	Value []byte `json:"value"`
}

const ed25519Name = "ed25519"

// WriteSeal writes a seal, signed if key is not nil, as one line of JSON.
func WriteSeal(w io.Writer, seal *Seal, key ed25519.PrivateKey) error {
	body, err := marshal(seal)
	if err != nil {
		return err
	}
	file := sealFile{Seal: body}
	if key != nil {
		name, err := keyName(key.Public().(ed25519.PublicKey))
		if err != nil {
			return err
		}
		file.Signature = &signature{Algorithm: ed25519Name, Key: name, Value: ed25519.Sign(key, body)}
	}
	text, err := marshal(file)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// keyName identifies a public key.
func keyName(key ed25519.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:]), nil
}

// ReadSeal reads a seal. With a key it also checks the signature, which must exist. signed reports
// whether there is a signature, checked or not.
func ReadSeal(text []byte, key ed25519.PublicKey) (seal *Seal, signed bool, err error) {
	var file sealFile
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, false, fmt.Errorf("it is not a seal, or it is cut short: %w", err)
	}
	if file.Seal == nil {
		return nil, false, errors.New(`it is not a seal: it lacks the member "seal"`)
	}
	signed = file.Signature != nil
	if key != nil {
		if err := file.checkSignature(key); err != nil {
			return nil, signed, err
		}
	}
	seal = &Seal{}
	if err := json.Unmarshal(file.Seal, seal); err != nil {
		return nil, signed, fmt.Errorf("it is not a seal: %w", err)
	}
	return seal, signed, seal.check()
}

// checkSignature verifies the signature over the compact JSON of the seal, so a file that was
// reformatted still verifies. If it does not, the name of the key tells a wrong key from a changed
// seal.
func (f *sealFile) checkSignature(key ed25519.PublicKey) error {
	switch {
	case f.Signature == nil:
		return errors.New("it is not signed: the signature was removed, or there was none")
	case f.Signature.Algorithm != ed25519Name:
		return fmt.Errorf("it is signed with %q, but this program knows only %s", f.Signature.Algorithm, ed25519Name)
	}
	var body bytes.Buffer
	if err := json.Compact(&body, f.Seal); err != nil {
		return err
	}
	if ed25519.Verify(key, body.Bytes(), f.Signature.Value) {
		return nil
	}
	name, err := keyName(key)
	if err != nil {
		return err
	}
	if f.Signature.Key != name {
		return fmt.Errorf("it is signed with another key (SHA-256 %.16s; this one is %.16s)", f.Signature.Key, name)
	}
	return errors.New("the signature does not match: the seal was changed after it was signed")
}

// ParsePrivateKey reads an ed25519 key in PEM, PKCS #8, as `openssl genpkey -algorithm ed25519`
// writes it.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	return keyOf[ed25519.PrivateKey](text, "PRIVATE KEY", x509.ParsePKCS8PrivateKey, "make one with `openssl genpkey -algorithm ed25519`")
}

// ParsePublicKey reads an ed25519 key in PEM, as `openssl pkey -pubout` writes it.
func ParsePublicKey(text []byte) (ed25519.PublicKey, error) {
	return keyOf[ed25519.PublicKey](text, "PUBLIC KEY", x509.ParsePKIXPublicKey, "it must be ed25519")
}

// keyOf parses the first PEM block, which must be of a kind and hold a key of type K. remedy is for
// a key of another type.
func keyOf[K any](text []byte, kind string, parse func(der []byte) (any, error), remedy string) (key K, err error) {
	der, err := pemOf(text, kind)
	if err != nil {
		return key, err
	}
	parsed, err := parse(der)
	if err != nil {
		return key, err
	}
	key, ok := parsed.(K)
	if !ok {
		err = fmt.Errorf("it is a key of another kind (%T): %s", parsed, remedy)
	}
	return key, err
}

// pemOf returns the bytes of the first PEM block, which must be of a kind.
func pemOf(text []byte, kind string) ([]byte, error) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, fmt.Errorf("it is not PEM: it must have a block BEGIN %s", kind)
	case block.Type == kind:
		return block.Bytes, nil
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("the key is encrypted: decrypt it first, with `openssl pkey -in FILE`")
	}
	return nil, fmt.Errorf("it has a block BEGIN %s, but it must be BEGIN %s", block.Type, kind)
}
