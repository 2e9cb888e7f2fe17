package dev.bourse.blob.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The address of an object store. */
class S3ConfigTest {
  private static S3Config parse(String text) {
    return S3Config.parse(text, Optional.empty());
  }

  @Test
  void aBucketAloneIsAmazons() {
    assertEquals(
        new S3Config(
            "models",
            "",
            Optional.empty(),
            "us-east-1",
            false,
            Duration.ofSeconds(20),
            Optional.empty()),
        parse("s3://models"));
  }

  @Test
  void anEndpointIsAskedByPathUnlessSaidOtherwise() {
    S3Config config = parse("s3://models/a/b?endpoint=http://127.0.0.1:9000&region=eu-1");
    assertEquals("a/b/", config.prefix());
    assertEquals(Optional.of(URI.create("http://127.0.0.1:9000")), config.endpoint());
    assertEquals("eu-1", config.region());
    assertTrue(config.pathStyle());
    assertEquals(
        config,
        parse("s3://models/a/b/?path-style=true&region=eu-1&endpoint=http://127.0.0.1:9000"));
    assertEquals("s3://models/a/b/", config.name());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "s3://",
        "s3://B",
        "s3:///prefix",
        "s3://models//x",
        "s3://models/../x?y",
        "s3://models?endpoint=ftp://h",
        "s3://models?endpoint=http://u:p@h",
        "s3://models?region=A b",
        "s3://models?region=a&region=b",
        "s3://models?path-style=yes",
        "s3://models?timeout=0",
        "s3://models?timeout=61",
        "s3://models?timeout=5s",
        "s3://models?other=1",
        "http://models"
      })
  void anythingElseIsRefusedWithWhatWouldBeAccepted(String text) {
    String said =
        String.valueOf(
            assertThrows(IllegalArgumentException.class, () -> parse(text)).getMessage());
    assertTrue(said.contains("s3://BUCKET") || said.contains("https://"), said);
  }
}
