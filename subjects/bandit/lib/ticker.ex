defmodule DynoBandit.Ticker do
  @moduledoc "A WebSocket that says `tick` at once, and then every so many milliseconds."
  @behaviour WebSock

  @impl true
  def init(ms) do
    send(self(), :tick)
    {:ok, ms}
  end

  @impl true
  def handle_in(_message, ms), do: {:ok, ms}

  @impl true
  def handle_info(:tick, ms) do
    Process.send_after(self(), :tick, ms)
    {:push, {:text, "tick"}, ms}
  end
end
