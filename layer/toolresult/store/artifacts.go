package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"google.golang.org/genai"

	"google.golang.org/adk/artifact"

	"github.com/adk-go-ext/longsession/internal/adk"
)

// NewArtifacts returns a Store over ADK's artifacts, for apps that have no other storage. Every other store suits
// better, because artifacts have limits that this one cannot lift:
//
//   - ADK's tool load_artifacts writes the name of each artifact into the system instruction. An agent
//     with that tool loses the provider's prompt cache with every result that is stored.
//   - Deleting a session leaves its artifacts behind. Delete them with the artifact service.
//   - An artifact is read whole. Up to 64 results of 64 MiB in all stay in memory meanwhile.
//   - There is no limit to what is stored, except that of the service.
//
// Names of artifacts must not have a slash; results are saved as tool_result_, the reference, and a hash
// of the session. The store is safe for concurrent use if the service is. If svc is nil, Put returns an error
// and every reference is unknown.
func NewArtifacts(svc artifact.Service) Store {
	if adk.IsNil(svc) {
		svc = nil
	}
	return &artifacts{svc: svc, contents: newContents()}
}

type artifacts struct {
	svc      artifact.Service
	contents *contents
}

// artifactType keeps ADK's services from treating a result as a text, which must be UTF-8.
const artifactType = "application/octet-stream"

// artifactName has the session's hash too: a service may join the names of app, user and session with
// slashes, which those names may have themselves.
func artifactName(owner Owner, ref string) string {
	return "tool_result_" + ref + "_" + hashOf(owner, "")
}

// Put implements Store. A result that is stored already is not saved as a new version.
func (a *artifacts) Put(ctx context.Context, owner Owner, _ string, result Result) error {
	if err := check(ctx, owner, result); err != nil {
		return err
	}
	if a.svc == nil {
		return errors.New("store result: there is no artifact service")
	}
	if _, err := a.load(ctx, owner, result.Ref); err == nil {
		return nil
	}
	// An empty artifact is refused by some services, so every one ends with a byte of its own.
	_, err := a.svc.Save(ctx, &artifact.SaveRequest{
		AppName: owner.AppName, UserID: owner.UserID, SessionID: owner.SessionID, FileName: artifactName(owner, result.Ref),
		Part: genai.NewPartFromBytes([]byte(result.Content+"\n"), artifactType),
	})
	if err != nil {
		return fmt.Errorf("store result %s: %w", result.Ref, err)
	}
	return nil
}

// Open implements Source.
func (a *artifacts) Open(ctx context.Context, owner Owner, ref string) (io.ReaderAt, int64, error) {
	if a.svc == nil || !owner.Whole() || !IsRef(ref) {
		return nil, 0, ErrUnknownRef
	}
	content, err := a.load(ctx, owner, ref)
	if err != nil {
		return nil, 0, err
	}
	return strings.NewReader(content), int64(len(content)), nil
}

func (a *artifacts) load(ctx context.Context, owner Owner, ref string) (string, error) {
	key := contentKey{owner, ref}
	if content, kept := a.contents.get(key); kept {
		return content, nil
	}
	resp, err := a.svc.Load(ctx, &artifact.LoadRequest{
		AppName: owner.AppName, UserID: owner.UserID, SessionID: owner.SessionID, FileName: artifactName(owner, ref),
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ErrUnknownRef
	case err != nil:
		return "", fmt.Errorf("open result %s: %w", ref, err)
	case resp == nil || resp.Part == nil || resp.Part.InlineData == nil || len(resp.Part.InlineData.Data) == 0:
		return "", ErrUnknownRef
	}
	data := resp.Part.InlineData.Data
	content := string(data[:len(data)-1])
	a.contents.add(key, content)
	return content, nil
}
