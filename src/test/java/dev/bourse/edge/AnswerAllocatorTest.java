package dev.bourse.edge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The buffers of Netty's encoder for a response with this allocator. */
@Tag("fast")
class AnswerAllocatorTest {
  private final EmbeddedChannel channel = new EmbeddedChannel();

  AnswerAllocatorTest() {
    channel.config().setAllocator(new AnswerAllocator(ByteBufAllocator.DEFAULT));
    channel.pipeline().addLast(new HttpResponseEncoder());
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private static String body(int length) {
    return "x".repeat(length);
  }

  /** The buffers that go to the socket, each with its text and capacity. */
  private record Sent(String text, int capacity) {}

  private List<Sent> sent() {
    List<Sent> all = new ArrayList<>();
    for (ByteBuf one = channel.readOutbound(); one != null; one = channel.readOutbound()) {
      all.add(new Sent(one.toString(StandardCharsets.US_ASCII), one.capacity()));
      one.release();
    }
    return all;
  }

  private List<Sent> answer(String body) {
    DefaultFullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.OK,
            Unpooled.copiedBuffer(body, StandardCharsets.US_ASCII));
    answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.length());
    channel.writeOutbound(answer);
    return sent();
  }

  @Test
  void aShortBodyIsSentWithItsHeadInOneBuffer() {
    String body = body(AnswerAllocator.ROOM_BYTES);
    List<Sent> sent = answer(body);
    assertEquals(1, sent.size());
    assertTrue(sent.get(0).text().startsWith("HTTP/1.1 200 OK\r\n"));
    assertTrue(sent.get(0).text().endsWith("\r\n\r\n" + body));
  }

  @Test
  void aLongBodyIsNotCopied() {
    String body = body(2 * AnswerAllocator.ROOM_BYTES);
    List<Sent> sent = answer(body);
    assertEquals(2, sent.size());
    assertEquals(body, sent.get(1).text());
  }

  @Test
  void whatStandsBetweenTheChunksOfAStreamTakesNoRoomForABody() {
    DefaultHttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers().set(HttpHeaderNames.TRANSFER_ENCODING, "chunked");
    channel.writeOutbound(head);
    sent();
    channel.writeOutbound(
        new DefaultHttpContent(Unpooled.copiedBuffer(body(900), StandardCharsets.US_ASCII)));
    List<Sent> chunk = sent();
    assertEquals("384\r\n", chunk.get(0).text());
    int room = chunk.stream().mapToInt(Sent::capacity).sum();
    assertTrue(room < AnswerAllocator.ROOM_BYTES, () -> "a chunk of 900 bytes takes " + room);
  }
}
