package dev.bourse.blob.s3;

import dev.bourse.testing.S3Server;

/** On S3Proxy. */
class S3ProxyContractTest extends S3Contract {
  S3ProxyContractTest() {
    super(S3Server.s3proxy());
  }
}
