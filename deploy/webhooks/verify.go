// Package webhooks verifies deliveries of Easel's webhooks, with the standard library alone.
package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// Verify answers whether one of the signatures is right and the delivery was sent within tolerance of now.
// body is the bytes of the request, before they are parsed; header is the value of Easel-Signature; secret is as it was
// shown, with whsec_. The header webhook-id is the same when a delivery comes again: take each id once.
func Verify(body []byte, header, secret string, tolerance time.Duration, now time.Time) bool {
	timestamp := ""
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		part = strings.TrimSpace(part)
		if strings.HasPrefix(part, "t=") {
			timestamp = part[2:]
		} else if strings.HasPrefix(part, "v1=") {
			signatures = append(signatures, part[3:])
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	age := now.Sub(time.Unix(seconds, 0))
	if age > tolerance || age < -tolerance {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// Two signatures for a day after a rotation of the secret.
	for _, signature := range signatures {
		given, err := hex.DecodeString(signature)
		if err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}
