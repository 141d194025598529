package tokens

import (
	"mime"
	"strings"
)

// The cost of media, from "Understand and count tokens" of the Gemini API
// documentation (https://ai.google.dev/gemini-api/docs/tokens): an image up to
// 384 pixels, or each 768-pixel tile of a larger one, is 258 tokens; a
// document page is 258; audio is 32 tokens a second; video 263.
const (
	imageTokens          = 258
	pageTokens           = 258
	audioTokensPerSecond = 32
	videoTokensPerSecond = 263
)

// The length of media is not known without decoding, so seconds and pages are
// guessed from the size, by common encodings.
const (
	pcmBytesPerSecond   = 32_000  // 16 bit, 16 kHz, one channel: what live audio is sent as
	audioBytesPerSecond = 16_000  // 128 kbit/s
	videoBytesPerSecond = 125_000 // 1 Mbit/s
	bytesPerPage        = 50_000
)

// mediaTokens returns roughly how many tokens inline data costs, 0 only if there
// is no data. The real cost of an image of several tiles, or at a high media
// resolution, is higher. An unknown type counts as one image.
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

// fileTokens returns how many tokens the file behind a URI costs, besides the
// URI. Since its size is not known, media count as one image or page, and text
// counts nothing.
func fileTokens(mimeType string) int {
	switch mediaKind(mimeType) {
	case "image", "audio", "pcm", "video", "pdf":
		return imageTokens
	}
	return 0
}

// perUnit charges each unit of size bytes, the last one in full.
func perUnit(bytes, size, tokens int) int {
	return (bytes + size - 1) / size * tokens
}

func mediaKind(mimeType string) string {
	// "audio/pcm;rate=16000" is audio/pcm; so is a type with malformed parameters.
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
