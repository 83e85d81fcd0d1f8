/** A certificate for https servers of the tests. Not every machine that runs them has a program that makes one. */

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Its own authority, for 127.0.0.1 and a.example, until 2126. The key protects nothing. */
export const SELF_SIGNED: Certificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBnzCCAUWgAwIBAgIUF3k+2+bcYMxihRP2aFQdgw8FPEwwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLZWFzZWwtdGVzdHMwIBcNMjYxMTI0MTAzOTI3WhgPMjEyNjEw
MzExMDM5MjdaMBYxFDASBgNVBAMMC2Vhc2VsLXRlc3RzMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEl3b25gn6sM/xSGlD8MJyn0J59Cg7lgJnS/zGS7pS465i5ksQ
jdIRk3rmUvCS8V+AR5z9DPMjcvW7KBHsnkvjcqNvMG0wHQYDVR0OBBYEFH4EuRO/
HZ3G/ptilIhi93wEr17lMB8GA1UdIwQYMBaAFH4EuRO/HZ3G/ptilIhi93wEr17l
MA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYcEfwAAAYIJYS5leGFtcGxlMAoG
CCqGSM49BAMCA0gAMEUCIQDdsw/MUtHtKsAM9tyF0vcu7IpTXTw8PjEC3wCxQ7el
ngIgVX3rdJ35nyaqOJIov0sxAzijwwRxw2HLYLIX1dCuBs4=
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg45C3XyniRIY3k7/3
nhbKWYOyRE1+fDci1WqKQOOhd42hRANCAASXdvbmCfqwz/FIaUPwwnKfQnn0KDuW
AmdL/MZLulLjrmLmSxCN0hGTeuZS8JLxX4BHnP0M8yNy9bsoEeyeS+Ny
-----END PRIVATE KEY-----
`,
};
