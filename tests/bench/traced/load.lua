-- load.lua - work for an interpreter: for each line on stdin a line with the milliseconds that each load took
local loads = {
	-- Calls of functions.
	function()
		local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
		return fib(22)
	end,
	-- A sort that asks a function.
	function()
		local t = {}
		for i = 1, 10000 do t[i] = (i * 7919) % 10007 end
		table.sort(t, function(a, b) return a < b end)
		return t[1]
	end,
	-- Numbers and tables.
	function()
		local t, sum = {}, 0
		for i = 1, 1000 do t[i] = i end
		for i = 1, 200000 do t[i % 1000 + 1] = i * 2; sum = sum + t[(i * 7) % 1000 + 1] end
		return sum
	end,
	-- Strings, and patterns in them.
	function()
		local parts, n = {}, 0
		for i = 1, 3000 do parts[#parts + 1] = tostring(i) .. ":" .. i end
		for word in table.concat(parts, ","):gmatch("%d+") do n = n + #word end
		return n
	end,
	-- Objects that are made and thrown away.
	function()
		local point = {}
		point.__index = point
		local function new(x, y) return setmetatable({ x = x, y = y }, point) end
		function point:add(other) return new(self.x + other.x, self.y + other.y) end
		local p = new(0, 0)
		for i = 1, 10000 do p = p:add(new(i, -i)) end
		return p.x
	end,
}

io.stdout:setvbuf("line")
for _ in io.lines() do
	local times = {}
	for i, load in ipairs(loads) do
		local from = os.clock()
		load()
		times[i] = string.format("%.3f", (os.clock() - from) * 1000)
	end
	print(table.concat(times, " "))
end
