// Command keys writes throw-away certificates and keys for a control plane on loopback.
//
// Usage: keys DIR. Writes ca.crt, server.crt, server.key, front-proxy-ca.crt, sa.key and sa.pub.
package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: keys DIR")
	}
	write := func(name, kind string, der []byte) {
		block := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		check(os.WriteFile(filepath.Join(os.Args[1], name), block, 0o600))
	}
	caKey, ca := authority("kauditor-test-ca")
	write("ca.crt", "CERTIFICATE", ca.Raw)
	// The API server refuses one CA for both client certificates and front-proxy headers.
	_, frontProxy := authority("kauditor-test-front-proxy-ca")
	write("front-proxy-ca.crt", "CERTIFICATE", frontProxy.Raw)

	serverKey := key()
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "kube-apiserver"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(48 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost", "kubernetes", "kubernetes.default.svc"},
		IPAddresses:  []net.IP{net.ParseIP("127.0.0.1")},
	}
	der, err := x509.CreateCertificate(rand.Reader, server, ca, &serverKey.PublicKey, caKey)
	check(err)
	write("server.crt", "CERTIFICATE", der)
	write("server.key", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(serverKey))

	account := key()
	write("sa.key", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(account))
	public, err := x509.MarshalPKIXPublicKey(&account.PublicKey)
	check(err)
	write("sa.pub", "PUBLIC KEY", public)
}

func authority(name string) (*rsa.PrivateKey, *x509.Certificate) {
	signer := key()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(48 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &signer.PublicKey, signer)
	check(err)
	certificate, err := x509.ParseCertificate(der)
	check(err)
	return signer, certificate
}

func key() *rsa.PrivateKey {
	made, err := rsa.GenerateKey(rand.Reader, 2048)
	check(err)
	return made
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
