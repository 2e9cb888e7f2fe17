package dev.bourse.blob.s3;

import dev.bourse.testing.S3Server;

/** On S3Mock. */
class S3MockContractTest extends S3Contract {
  S3MockContractTest() {
    super(S3Server.s3mock());
  }
}
