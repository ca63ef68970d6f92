// SPDX-License-Identifier: GPL-3.0-or-later
// target.cc - objects with virtual functions

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

extern "C" {
#include "serve.h"
}

class Animal {
public:
	explicit Animal(int n);
	virtual ~Animal();
	virtual std::string name() const = 0;
	virtual std::string describe() const;

protected:
	int number;
};

class Dog : public Animal {
public:
	using Animal::Animal;
	std::string name() const override;
};

class Cat : public Animal {
public:
	explicit Cat(int n);
	std::string name() const override;
	std::string describe() const override;
};

Animal::Animal(int n) : number(n)
{
}

Animal::~Animal()
{
	number = 0;
}

std::string Animal::describe() const
{
	return name() + " " + std::to_string(number);
}

std::string Dog::name() const
{
	return "dog";
}

Cat::Cat(int n) : Animal(n)
{
}

std::string Cat::name() const
{
	return "cat";
}

std::string Cat::describe() const
{
	return Animal::describe();
}

static Animal *old_one;

extern "C" void answer(const char *request, char *reply, size_t size)
{
	std::unique_ptr<Animal> fresh(new Cat(atoi(request)));

	if (!old_one)
		old_one = new Dog(1);
	snprintf(reply, size, "%s, %s", old_one->describe().c_str(), fresh->describe().c_str());
}
