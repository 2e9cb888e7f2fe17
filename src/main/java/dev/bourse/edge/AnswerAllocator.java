package dev.bourse.edge;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelConfig;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * A connection's buffers, with room for a short body behind the head of an answer.
 *
 * <p>Netty's encoder asks for a buffer as long as heads have been, and appends a body that fits;
 * one that does not fit is a second buffer, with a second promise, and both go to the socket as a
 * list. With an answer of 2 KB copied behind its head a process reads capacity 3 to 7 % oftener. It
 * is direct memory in any case: a body on the heap is copied there to be written.
 */
final class AnswerAllocator extends AbstractByteBufAllocator {
  /** Most answers in JSON; to copy a longer one costs more than it spares. */
  static final int ROOM_BYTES = 4_096;

  /** What is shorter is the length of a chunk, of which a stream may have many waiting. */
  private static final int LEAST_HEAD_BYTES = 64;

  private final ByteBufAllocator pooled;

  /**
   * @param pooled where buffers are from
   */
  AnswerAllocator(ByteBufAllocator pooled) {
    super(true);
    this.pooled = pooled;
  }

  /** Has a connection take its buffers from here; with TLS records are what is written. */
  static void serve(HttpConnection connection) {
    if (!connection.isSsl() && connection instanceof ConnectionBase base) {
      ChannelConfig config = base.channelHandlerContext().channel().config();
      config.setAllocator(new AnswerAllocator(config.getAllocator()));
    }
  }

  /**
   * As an encoder asks for a head's: what is read, and what is copied, is asked for by its kind.
   */
  @Override
  public ByteBuf buffer(int initialCapacity) {
    return pooled.directBuffer(
        initialCapacity < LEAST_HEAD_BYTES ? initialCapacity : initialCapacity + ROOM_BYTES);
  }

  @Override
  protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
    return pooled.heapBuffer(initialCapacity, maxCapacity);
  }

  @Override
  protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
    return pooled.directBuffer(initialCapacity, maxCapacity);
  }

  @Override
  public boolean isDirectBufferPooled() {
    return pooled.isDirectBufferPooled();
  }
}
