package tokens

import (
	"mime"
	"strings"
)

// Costs of media, from "Understand and count tokens" in the Gemini API documentation
// (https://ai.google.dev/gemini-api/docs/tokens): 258 tokens for an image of up to 384 pixels or
// for each 768-pixel tile of a larger one, 258 for a document page, 32 per second of audio, 263 per
// second of video.
const (
	imageTokens          = 258
	pageTokens           = 258
	audioTokensPerSecond = 32
	videoTokensPerSecond = 263
)

// The length of media is unknown without decoding, so seconds and pages are estimated from the
// size, by common encodings.
const (
	pcmBytesPerSecond   = 32_000  // 16 bit, 16 kHz, one channel: the format of live audio
	audioBytesPerSecond = 16_000  // 128 kbit/s
	videoBytesPerSecond = 125_000 // 1 Mbit/s
	bytesPerPage        = 50_000
)

// mediaTokens returns the approximate number of tokens of inline data, 0 only if there is no data.
// An image of several tiles or with a high media resolution really costs more. An unknown type
// counts as one image.
func mediaTokens(mimeType string, data []byte) int {
	if len(data) == 0 {
		return 0
	}
	switch mediaKind(mimeType) {
	case "text":
		return Estimate(string(data))
	case "pcm":
		return perUnit(len(data), pcmBytesPerSecond, audioTokensPerSecond)
	case "audio":
		return perUnit(len(data), audioBytesPerSecond, audioTokensPerSecond)
	case "video":
		return perUnit(len(data), videoBytesPerSecond, videoTokensPerSecond)
	case "pdf":
		return perUnit(len(data), bytesPerPage, pageTokens)
	}
	return imageTokens
}

// fileTokens returns the number of tokens of the file behind a URI, without the URI itself. The
// size is unknown, so media count as one image or page, and text counts 0.
func fileTokens(mimeType string) int {
	switch mediaKind(mimeType) {
	case "image", "audio", "pcm", "video", "pdf":
		return imageTokens
	}
	return 0
}

// perUnit charges tokens for each unit of size bytes, and rounds the last unit up.
func perUnit(bytes, size, tokens int) int {
	return (bytes + size - 1) / size * tokens
}

func mediaKind(mimeType string) string {
	// "audio/pcm;rate=16000" is audio/pcm, and malformed parameters are ignored.
	base, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		base, _, _ = strings.Cut(mimeType, ";")
		base = strings.ToLower(strings.TrimSpace(base))
	}
	major, minor, _ := strings.Cut(base, "/")
	switch {
	case base == "application/pdf":
		return "pdf"
	case major == "text", minor == "json", minor == "xml",
		strings.HasSuffix(minor, "+json") && major == "application",
		strings.HasSuffix(minor, "+xml") && major == "application":
		return "text"
	case major == "audio" && (minor == "pcm" || minor == "l16" || strings.HasSuffix(minor, "wav") || minor == "wave"):
		return "pcm"
	case major == "image", major == "audio", major == "video":
		return major
	}
	return ""
}
