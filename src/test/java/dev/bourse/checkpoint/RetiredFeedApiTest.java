package dev.bourse.checkpoint;

import static dev.bourse.testing.FilesFixture.FEED;
import static dev.bourse.testing.FilesFixture.approve;
import static dev.bourse.testing.FilesFixture.bytes;
import static dev.bourse.testing.FilesFixture.freshName;
import static dev.bourse.testing.FilesFixture.publish;
import static dev.bourse.testing.FilesFixture.sha256;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.bourse.core.ErrorCode;
import dev.bourse.testing.ApiClient;
import dev.bourse.testing.ReplayedOnPostgres;
import dev.bourse.testing.RunningBourse;
import dev.bourse.testing.SlowDownload;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Public access to an organization's files after it is retired. */
@ReplayedOnPostgres
class RetiredFeedApiTest {
  /** More than the operating system's socket buffers hold. */
  private static final byte[] LARGE = bytes(8 << 20, 3);

  private static String onFeed(RunningBourse bourse) {
    String id =
        publish(bourse.asMember("openlab", "carol"), freshName(), LARGE, "public").getString("id");
    approve(bourse, id).ok();
    return id;
  }

  private static void retire(RunningBourse bourse) {
    bourse.operator().delete("/api/operator/orgs/openlab").ok();
  }

  @Test
  void nothingOfItIsListedFoundOrReadFromThatMomentOn() {
    try (RunningBourse bourse =
        RunningBourse.demo("checkpoints.sweep-interval=1h", "checkpoints.deletion-delay=0")) {
      String id = onFeed(bourse);
      ApiClient anybody = bourse.with(null);
      String etag = '"' + sha256(LARGE) + '"';
      assertEquals(1, anybody.get(FEED).ok().getJsonArray("checkpoints").size());

      retire(bourse);

      for (String list : List.of(FEED, FEED + "?q=file", FEED + "?limit=1")) {
        assertEquals(0, anybody.get(list).ok().getJsonArray("checkpoints").size(), list);
      }
      anybody.get(FEED + '/' + id).refused(ErrorCode.NOT_FOUND);
      String content = FEED + '/' + id + "/content";
      anybody.get(content).refused(ErrorCode.NOT_FOUND);
      for (String[] headers :
          new String[][] {
            {"Range", "bytes=0-9"},
            {"If-None-Match", etag},
            {"Range", "bytes=0-9", "If-Range", etag}
          }) {
        assertEquals(404, anybody.fetch("GET", content, headers).statusCode(), headers[0]);
      }
      assertEquals(404, anybody.fetch("HEAD", content).statusCode());
      assertEquals(404, anybody.fetch("GET", content + "?download=1").statusCode());
    }
  }

  @Test
  void aDownloadUnderWayIsCompletedThoughTheBytesAreDeletedMeanwhile() {
    try (RunningBourse bourse =
        RunningBourse.demo("checkpoints.sweep-interval=50ms", "checkpoints.deletion-delay=0")) {
      String id = onFeed(bourse);
      String content = FEED + '/' + id + "/content";
      try (SlowDownload underWay = new SlowDownload(bourse, content, null, "")) {
        assertEquals(200, underWay.status());

        retire(bourse);
        RunningBourse.until("the bytes are deleted", () -> bourse.files("blobs").isEmpty());

        assertEquals(404, bourse.with(null).fetch("GET", content).statusCode());
        assertArrayEquals(LARGE, underWay.rest(LARGE.length));
      }
    }
  }
}
